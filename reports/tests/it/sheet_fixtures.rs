//! Sheets as the commands would make them.

use onejob_reports::sheet::{Axis, Compare, Entry, Grid, GridRow, Plot, Point, Sheet, Square, Table, Tone};

pub(crate) fn kill_matrix() -> Sheet {
    let scenarios =
        ["double-click", "key-reuse", "unknown-blocks", "reverse-finish", "cancel-race", "late-callback"];
    let defects = [
        (
            "check-then-insert",
            "Two requests both look, both find nothing, and both insert.",
            [0, 3].as_slice(),
        ),
        ("mismatch-ignored", "Another payload under a known key gets the first one's answer.", &[1]),
        ("timeout-is-failed", "A timeout is taken for a failure, and the effect happens twice.", &[2, 5]),
        ("unknown-does-not-block", "A retry starts while nobody knows how the first try ended.", &[2]),
        ("last-writer-wins", "A late result overwrites the one that was decided.", &[3, 4]),
        ("silent-cancel", "A cancel is answered and does nothing.", &[]),
    ];
    let mut grid = Grid::new("What each scenario makes of each defect", "defect", scenarios);
    for (row, (name, story, killers)) in defects.iter().enumerate() {
        let squares = (0..scenarios.len())
            .map(|column| match (killers.contains(&column), (row + column) % 5) {
                (true, _) => {
                    Square::new(Tone::Good, "killed", "broke `at-most-one-effect`: 2 effects for one key")
                }
                (false, 4) => Square::default(),
                (false, 3) => Square::new(Tone::Doubt, "no verdict", "the witness `overlap` was not seen"),
                (false, _) => Square::new(Tone::Plain, "not noticed", ""),
            })
            .collect();
        let tone = if killers.is_empty() { Tone::Bad } else { Tone::Good };
        grid = grid.row(GridRow { name: (*name).into(), tone, note: (*story).into(), squares });
    }
    Sheet::new(
        "onejob prove",
        Tone::Bad,
        "1 survivor",
        "5 of 6 defects are killed; `silent-cancel` survives every scenario.",
    )
    .fact("database", "PostgreSQL 15.6, local programs")
    .fact("took", "1 min 48 s")
    .section("Kill matrix", |section| section.grid(grid))
    .section("What survived", |section| {
        section
            .warning("`silent-cancel`: a cancel is answered and does nothing. No scenario would notice.")
            .command("onejob prove --all --defect silent-cancel")
    })
}

pub(crate) fn bench() -> Sheet {
    let curve = |height: f64, fall: f64| {
        [1.0, 2.0, 8.0, 32.0, 64.0].map(|n: f64| {
            let y = height / n.powf(fall);
            Point { x: n, y, range: Some((y * 0.93, y * 1.06)) }
        })
    };
    let percentiles = |scale: f64| {
        [(50.0, 1.0), (90.0, 1.9), (99.0, 4.2), (99.9, 11.0)]
            .map(|(p, factor): (f64, f64)| (p, factor * scale).into())
    };
    Sheet::new(
        "onejob bench cas",
        Tone::Good,
        "done",
        "Four strategies, five numbers of contenders, interleaved.",
    )
    .fact("database", "PostgreSQL 15.6")
    .fact("seed", "42")
    .section("Decisions a second", |section| {
        section
            .prose("The compare-and-swap stays level; `FOR UPDATE` falls as contenders queue for the row.")
            .plot(
                Plot::new(
                    "Decisions a second over contenders, by strategy",
                    Axis::logarithmic("contenders"),
                    Axis::linear("decisions a second"),
                )
                .line("compare-and-swap", curve(4_300.0, 0.05))
                .line("for update", curve(4_000.0, 0.35))
                .line("advisory lock", curve(3_600.0, 0.2))
                .line("serializable", curve(3_900.0, 0.7)),
            )
    })
    .section("Latency", |section| {
        section
            .plot(
                Plot::new("Latency of a decision", Axis::linear("percentile"), Axis::logarithmic("ms"))
                    .line("compare-and-swap", percentiles(0.4))
                    .line("serializable", percentiles(2.1)),
            )
            .table(
                Table::new("Against pgbench in the same run", ["statement", "onejob", "pgbench", "ratio"])
                    .row(["create".into(), "8 120".into(), "8 310".into(), Entry::new("0.98", Tone::Good)])
                    .row(["finish".into(), "7 020".into(), "8 100".into(), Entry::new("0.87", Tone::Bad)]),
            )
    })
}

pub(crate) fn contract() -> Sheet {
    let primary = "{\n  \"vendor\": \"ACME\",\n  \"total\": \"12.50\",\n  \"currency\": \"EUR\"\n}\n";
    let fallback = "{\n  \"vendor\": \"ACME\",\n  \"total\": \"12\",\n  \"currency\": \"USD\"\n}\n";
    Sheet::new(
        "onejob contract compare",
        Tone::Bad,
        "no failover",
        "The fallback passes the schema and fails the meaning.",
    )
    .fact("contract", "invoices")
    .section("Pass rates", |section| {
        section.table(
            Table::new("Lower bounds at 95 %", ["stage", "primary", "fallback", "asked for"])
                .row([
                    "schema".into(),
                    Entry::new("0.98", Tone::Good),
                    Entry::new("0.98", Tone::Good),
                    "0.95".into(),
                ])
                .row([
                    "meaning".into(),
                    Entry::new("0.97", Tone::Good),
                    Entry::new("0.12", Tone::Bad),
                    "0.95".into(),
                ]),
        )
    })
    .section("A sample that differs", |section| {
        section
            .compare(Compare::new("primary, sample 7", primary, "fallback, sample 7", fallback))
            .fold("The request", |section| {
                section.command("curl -X POST http://127.0.0.1:4000/v1/chat/completions")
            })
    })
}
