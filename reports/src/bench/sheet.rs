//! The page of a benchmark.

use std::collections::BTreeSet;

use super::{
    BenchReport, Comparison, Estimate, Limit, Percentiles, Row,
    points::{by_cluster, cluster_words},
};
use crate::{
    sheet::{Axis, Entry, Plot, Point, Section, Sheet, Table, Tone, figure},
    text::human::{count, duration},
};

/// The page of a benchmark: what became worse, what to know, then for each cluster plots and every figure.
#[must_use]
pub fn sheet(report: &BenchReport) -> Sheet {
    let (tone, word) = verdict(report);
    let title = format!("onejob bench {}", report.subject.word());
    let mut sheet = Sheet::new(title, tone, word, summary(report));
    for database in &report.databases {
        sheet = sheet.fact("database", database);
    }
    sheet = sheet
        .fact("processors", report.processors.to_string())
        .fact("limit", limit_words(&report.limit))
        .fact("began", &report.started_at)
        .fact("took", duration(report.duration_us))
        .fact("version", &report.tool_version);
    if let Some(comparison) = &report.comparison {
        sheet = changes(sheet, comparison);
    }
    if !report.not_measured.is_empty() {
        sheet = sheet.section("What was not measured", |section| {
            let why =
                if report.interrupted { "It was stopped before it came to" } else { "There was no time for" };
            let named: Vec<String> = report.not_measured.iter().map(|point| format!("`{point}`")).collect();
            section.warning(format!("{why} {}: {}.", count(named.len(), "point"), named.join(", ")))
        });
    }
    if !report.notes.is_empty() || matches!(report.limit, Limit::Absent { .. }) {
        sheet = sheet.section("To take the figures rightly", |section| {
            let section = match &report.limit {
                Limit::Absent { why } => {
                    section.warning(format!("There is no limit beside the figures: {why}"))
                }
                Limit::Pgbench { .. } | Limit::EmptyExchange => section,
            };
            report.notes.iter().fold(section, Section::prose)
        });
    }
    let clusters = by_cluster(report);
    let one = clusters.len() < 2;
    for (name, rows) in &clusters {
        let of = |what: &str| if one { what.to_owned() } else { format!("{what}: {name}") };
        let cluster = cluster_words(name);
        sheet = sheet
            .section(of("Throughput"), |section| throughput(section.prose(cluster), rows))
            .section(of("Latency"), |section| latencies(section, rows))
            .section(of("What became of the attempts"), |section| section.table(outcomes(rows)));
    }
    sheet.section("Measure it again", |section| {
        let section = section.command(&report.command);
        if report.settings.is_empty() {
            return section;
        }
        let table = Table::new("What was asked for", ["setting", "value"]);
        section.table(report.settings.iter().fold(table, |table, (name, value)| {
            table.row([format!("`{name}`").into(), value.as_str().into()])
        }))
    })
}

/// How it came out.
pub(super) fn verdict(report: &BenchReport) -> (Tone, String) {
    let compared = report.comparison.as_ref();
    let regressions =
        compared.map(|comparison| comparison.points.iter().filter(|point| point.regression).count());
    match regressions {
        Some(n) if n > 0 => (Tone::Bad, count(n, "regression")),
        _ if report.interrupted => (Tone::Doubt, "interrupted".to_owned()),
        _ if report.rows.is_empty() => (Tone::Doubt, "nothing measured".to_owned()),
        _ if !report.not_measured.is_empty() => {
            (Tone::Doubt, format!("{} not measured", count(report.not_measured.len(), "point")))
        }
        Some(_) => (Tone::Good, "no regression".to_owned()),
        None => (Tone::Plain, "measured".to_owned()),
    }
}

fn summary(report: &BenchReport) -> String {
    let strategies: BTreeSet<&str> = report.rows.iter().map(|row| row.strategy.as_str()).collect();
    let repeats = report.rows.iter().map(|row| row.repeats.len()).max().unwrap_or(0);
    format!(
        "{} {} of {}, {} each, interleaved.",
        report.subject.sentence(),
        count(report.rows.len(), "point"),
        if strategies.len() == 1 {
            "1 strategy".to_owned()
        } else {
            format!("{} strategies", strategies.len())
        },
        count(repeats, "repeat")
    )
}

pub(super) fn limit_words(limit: &Limit) -> String {
    match limit {
        Limit::Pgbench { version } => format!("the same statements by {version}"),
        Limit::EmptyExchange => "empty HTTP exchanges by the same client".to_owned(),
        Limit::Absent { .. } => "none".to_owned(),
    }
}

fn changes(sheet: Sheet, comparison: &Comparison) -> Sheet {
    let regressions = comparison.points.iter().filter(|point| point.regression).count();
    let said = if regressions == 0 {
        format!("Nothing became worse by more than {} % and beyond chance.", figure(comparison.threshold))
    } else {
        let points = count(regressions, "point");
        format!("{points} became worse by more than {} % and beyond chance.", figure(comparison.threshold))
    };
    let caption = format!(
        "Ratios of this run and of {}; beyond chance is p below {}",
        comparison.base,
        figure(comparison.alpha)
    );
    let head = ["point", "compared by", "before", "now", "change", "p", "verdict"];
    let table = comparison.points.iter().fold(Table::new(caption, head), |table, point| {
        let (tone, word) = if point.regression { (Tone::Bad, "worse") } else { (Tone::Good, "as before") };
        table.row([
            point.point.as_str().into(),
            format!("`{}`", point.by).into(),
            format!("{:.3}", point.before).into(),
            format!("{:.3}", point.now).into(),
            by_how_much(point.worse_percent).into(),
            format!("{:.3}", point.p).into(),
            Entry::new(word, tone),
        ])
    });
    sheet.section(format!("Against {}", comparison.base), |section| {
        let section = if regressions == 0 { section.prose(said) } else { section.warning(said) };
        comparison
            .left_out
            .iter()
            .fold(section.table(table), |section, why| section.warning(format!("Not compared: {why}")))
    })
}

pub(super) fn by_how_much(worse_percent: f64) -> String {
    let word = if worse_percent > 0.0 { "worse" } else { "better" };
    format!("{:.1} % {word}", worse_percent.abs())
}

/// A plot over the number in flight; none where there is but one, which a table says better.
fn over_contenders(
    rows: &[&Row],
    caption: &str,
    y: Axis,
    value: impl Fn(&Row) -> Option<Point>,
) -> Option<Plot> {
    let mut lines: Vec<(String, Vec<Point>)> = Vec::new();
    let mut places = BTreeSet::new();
    for row in rows {
        let Some(point) = value(row) else { continue };
        places.insert(row.contenders);
        let (name, point) = (row.line(), Point { x: f64::from(row.contenders), ..point });
        match lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => lines.push((name, vec![point])),
        }
    }
    if places.len() < 2 {
        return None;
    }
    let plot = Plot::new(caption, Axis::logarithmic("in flight"), y);
    Some(lines.into_iter().fold(plot, |plot, (name, mut points)| {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        plot.line(name, points)
    }))
}

fn plotted(section: Section, plot: Option<Plot>) -> Section {
    plot.into_iter().fold(section, Section::plot)
}

fn ranged(estimate: Estimate) -> Point {
    Point { x: 0.0, y: estimate.median, range: Some((estimate.low, estimate.high)) }
}

fn throughput(section: Section, rows: &[&Row]) -> Section {
    let units: BTreeSet<&str> = rows.iter().map(|row| row.unit.as_str()).collect();
    let each = format!("{} a second", units.into_iter().collect::<Vec<_>>().join(" or "));
    let rates =
        over_contenders(rows, &format!("{each}, medians with their bounds"), Axis::linear(&each), |row| {
            Some(ranged(row.rate))
        });
    let ratios =
        over_contenders(rows, "Against the limit, which is 1", Axis::linear("to the limit"), |row| {
            row.to_limit.map(ranged)
        });
    let head = ["point", "a second", "bounds", "to the limit", "to the plain form", "overlap"];
    let caption = format!("{each}: the median of interleaved repeats, and what it lies between");
    let table = rows.iter().fold(Table::new(caption, head), |table, row| {
        table.row([
            row.point().into(),
            figure(row.rate.median).into(),
            bounds(row.rate).into(),
            row.to_limit.map(ratio).unwrap_or_default().into(),
            row.to_baseline.map(ratio).unwrap_or_default().into(),
            figure(row.overlap).into(),
        ])
    });
    plotted(plotted(section, rates), ratios).table(table)
}

fn bounds(estimate: Estimate) -> String {
    format!("{} to {} ({:.0} %)", figure(estimate.low), figure(estimate.high), estimate.confidence * 100.0)
}

fn ratio(estimate: Estimate) -> String {
    format!("{:.2} ({:.2} to {:.2})", estimate.median, estimate.low, estimate.high)
}

fn latencies(section: Section, rows: &[&Row]) -> Section {
    let of = |us: u64| Some(Point::from((0.0, millis(us))));
    let axis = || Axis::logarithmic("ms");
    let all =
        over_contenders(rows, "99 of 100 were not slower: everybody", axis(), |row| of(row.latency.all.p99));
    let losers = over_contenders(rows, "99 of 100 were not slower: those who lost", axis(), |row| {
        row.latency.losers.and_then(|losers| of(losers.p99))
    });
    let section = plotted(plotted(plotted(section, all), losers), spread(rows));
    let all = rows.iter().fold(latency_table("Latency of everybody"), |table, row| {
        table.row(latency(row.point(), row.latency.all, None))
    });
    let caption = "Latency of those who won and of those who lost";
    let apart = rows.iter().fold(latency_table(caption), |table, row| {
        let parts =
            [("won", row.latency.winners, None), ("lost", row.latency.losers, row.losers_p99_to_baseline)];
        parts.into_iter().fold(table, |table, (who, percentiles, to_baseline)| match percentiles {
            Some(percentiles) => {
                table.row(latency(format!("{}, {who}", row.point()), percentiles, to_baseline))
            }
            None => table,
        })
    });
    let section = section.table(all);
    if apart.rows.is_empty() {
        return section;
    }
    section.fold("Winners and losers apart", |section| section.table(apart))
}

fn latency_table(caption: &str) -> Table {
    Table::new(
        caption,
        ["point", "p50", "p90", "p99", "p99.9", "slowest", "measured", "p99 to the plain form"],
    )
}

fn latency(name: String, percentiles: Percentiles, to_baseline: Option<Estimate>) -> Vec<Entry> {
    let Percentiles { count, p50, p90, p99, p999, max } = percentiles;
    let mut entries = vec![Entry::from(name)];
    entries.extend([p50, p90, p99, p999, max].map(|us| Entry::from(duration(us))));
    entries.extend([count.to_string().into(), to_baseline.map(ratio).unwrap_or_default().into()]);
    entries
}

/// The whole distribution of each line, at the most that were in flight.
fn spread(rows: &[&Row]) -> Option<Plot> {
    let most = rows.iter().map(|row| row.contenders).max()?;
    let plot = Plot::new(
        format!("With {most} in flight: one in so many took longer"),
        Axis::logarithmic("one in"),
        Axis::logarithmic("ms"),
    );
    Some(rows.iter().filter(|row| row.contenders == most).fold(plot, |plot, row| {
        let Percentiles { p50, p90, p99, p999, .. } = row.latency.all;
        let points = [(2.0, p50), (10.0, p90), (100.0, p99), (1_000.0, p999)];
        plot.line(row.line(), points.map(|(x, us)| (x, millis(us)).into()))
    }))
}

fn outcomes(rows: &[&Row]) -> Table {
    let head = [
        "point",
        "won",
        "lost",
        "busy",
        "unknown",
        "retries",
        "retries per win",
        "fairness",
        "log bytes each",
        "log flushes each",
    ];
    let caption = "Fairness is 1 where all won alike; the write-ahead log is counted for each decision";
    rows.iter().fold(Table::new(caption, head), |table, row| {
        let counts = row.counts;
        let unknown = if counts.unknown > 0 { Tone::Doubt } else { Tone::Plain };
        table.row([
            row.point().into(),
            counts.wins.to_string().into(),
            counts.losses.to_string().into(),
            counts.busy.to_string().into(),
            Entry::new(counts.unknown.to_string(), unknown),
            counts.retries.to_string().into(),
            figure(row.retries_per_win).into(),
            row.fairness.map(|index| format!("{index:.2}")).unwrap_or_default().into(),
            row.wal_bytes.map(figure).unwrap_or_default().into(),
            row.wal_syncs.map(figure).unwrap_or_default().into(),
        ])
    })
}

/// Counts and times here stay far below what a double holds exactly.
#[expect(clippy::cast_precision_loss, reason = "only places on an axis are computed from it")]
fn millis(us: u64) -> f64 {
    us as f64 / 1_000.0
}
