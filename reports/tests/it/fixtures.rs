//! Reports as a run would hand them over, built piece by piece.

use std::collections::BTreeMap;

use onejob_reports::{
    exit::ExitCode,
    model::{
        Cell, CellError, Lane, Mark, Moment, Outcome, Profile, Promise, RunReport, SCHEMA_VERSION, Shard,
        Source, Sweeps, Verdict, Witness,
    },
};

pub(crate) struct CellBuilder(Cell);

impl CellBuilder {
    pub(crate) fn passing(scenario: &str) -> Self {
        Self(Cell {
            scenario: scenario.into(),
            title: "Many clicks make one job".into(),
            why: "A customer who clicks twice pays twice.".into(),
            tags: vec!["breakpoint".into()],
            covers: vec!["S01".into()],
            at: BTreeMap::new(),
            source: Source { file: format!("scenarios/{scenario}.toml"), line: 3 },
            verdict: Verdict::Pass,
            flaky: false,
            rounds: 3,
            repeats: vec![Verdict::Pass],
            duration_us: 41_300,
            setup_us: 9_000,
            gate: Some("lock".into()),
            promises: vec![promise("one-job-per-key", None), promise("at-most-one-effect", Some(21))],
            witnesses: vec![Witness {
                name: "overlap".into(),
                seen: true,
                rounds_seen: 3,
                detail: "8 requests waited on the lock".into(),
            }],
            skipped: None,
            error: None,
            kills: None,
            timeline: calm_timeline(),
            moments_left_out: 0,
            replay: format!("onejob run {scenario} --seed 42"),
            curl: vec!["curl -X POST http://127.0.0.1:4000/v1/jobs -H 'idempotency-key: k-1' -d '{\"kind\":\"charge\"}'".into()],
        })
    }

    pub(crate) fn at(mut self, axis: &str, value: &str) -> Self {
        self.0.at.insert(axis.into(), value.into());
        self.0.replay = format!("{} --at {axis}={value}", self.0.replay);
        self
    }

    pub(crate) fn taking(mut self, us: u64) -> Self {
        self.0.duration_us = us;
        self
    }

    /// Attempt 1 comes home after attempt 2 won, and its result is used all the same.
    pub(crate) fn failing(mut self) -> Self {
        self.0.verdict = Verdict::Fail;
        self.0.repeats = vec![Verdict::Fail];
        self.0.promises = vec![
            Promise {
                name: "terminal-never-changes".into(),
                outcome: Outcome::Broke,
                sentence:
                    "The job's result changed from attempt 2's to attempt 1's after it had been decided."
                        .into(),
                broken_rounds: vec![2],
                evidence: vec![9, 11, 12],
                line: Some(17),
            },
            Promise {
                name: "at-most-one-effect".into(),
                outcome: Outcome::Broke,
                sentence: "2 effects happened at the provider for one key; at most one was promised.".into(),
                broken_rounds: vec![1, 2],
                evidence: vec![8],
                line: None,
            },
            promise("one-job-per-key", None),
        ];
        self.0.timeline = reverse_timeline();
        self
    }

    pub(crate) fn skipped(mut self, reason: &str) -> Self {
        self.0.verdict = Verdict::Skipped;
        self.0.skipped = Some(reason.into());
        self.0.rounds = 0;
        self.0.repeats.clear();
        self.0.promises.clear();
        self.0.witnesses.clear();
        self.0.timeline.clear();
        self.0.gate = None;
        self.0.duration_us = 0;
        self.0.setup_us = 0;
        self
    }

    pub(crate) fn inconclusive(mut self) -> Self {
        self.0.verdict = Verdict::Inconclusive;
        self.0.repeats = vec![Verdict::Inconclusive];
        self.0.witnesses[0].seen = false;
        self.0.witnesses[0].rounds_seen = 0;
        self.0.witnesses[0].detail = "no two requests were in flight at once in 3 rounds".into();
        self.0.promises[0].outcome = Outcome::Undecided;
        self.0.promises[0].sentence = "without an overlap there was no race to judge".into();
        self.0.gate = Some("arrival-h1".into());
        self
    }

    pub(crate) fn error(mut self) -> Self {
        self.0.verdict = Verdict::Error;
        self.0.repeats = vec![Verdict::Error];
        self.0.promises.clear();
        self.0.timeline.clear();
        self.0.error = Some(CellError {
            code: "OJ3004".into(),
            message: "the target answered HTML where JSON was expected".into(),
            help: "check `base_url` in the target file: a proxy's error page answers there".into(),
            exit: ExitCode::Target,
        });
        self
    }

    /// Failed once, passed when repeated.
    pub(crate) fn flaky(mut self) -> Self {
        self.0.flaky = true;
        self.0.repeats = vec![Verdict::Fail, Verdict::Pass];
        self
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Cell)) -> Self {
        change(&mut self.0);
        self
    }

    pub(crate) fn build(self) -> Cell {
        self.0
    }
}

fn promise(name: &str, line: Option<u32>) -> Promise {
    Promise {
        name: name.into(),
        outcome: Outcome::Held,
        sentence: String::new(),
        broken_rounds: vec![],
        evidence: vec![],
        line,
    }
}

#[allow(clippy::too_many_arguments, reason = "one line a moment is what makes a timeline readable here")]
fn moment(
    id: u64,
    at_us: u64,
    until_us: Option<u64>,
    lane: Lane,
    who: &str,
    what: &str,
    mark: Mark,
) -> Moment {
    Moment { id, at_us, until_us, lane, who: who.into(), what: what.into(), mark }
}

fn calm_timeline() -> Vec<Moment> {
    vec![
        moment(1, 0, None, Lane::Harness, "gate", "lock taken; waiting for 2 contenders", Mark::Plain),
        moment(2, 120, Some(8_400), Lane::Client, "click.1", "POST /v1/jobs → 201 queued", Mark::Plain),
        moment(3, 131, Some(8_650), Lane::Client, "click.2", "POST /v1/jobs → 200 replayed", Mark::Plain),
        moment(4, 7_900, None, Lane::Harness, "gate", "released", Mark::Plain),
        moment(5, 9_100, Some(14_000), Lane::Attempt, "attempt 1", "running", Mark::Plain),
        moment(6, 9_300, Some(13_200), Lane::Provider, "call A", "charge 12.50", Mark::Effect),
        moment(7, 13_900, None, Lane::Database, "attempt 1", "compare-and-swap at version 1", Mark::Won),
    ]
}

fn reverse_timeline() -> Vec<Moment> {
    vec![
        moment(1, 0, Some(2_100), Lane::Client, "submit", "POST /v1/jobs → 201 queued", Mark::Plain),
        moment(
            2,
            2_400,
            Some(502_000),
            Lane::Attempt,
            "attempt 1",
            "running, then its deadline passed",
            Mark::Unknown,
        ),
        moment(
            3,
            2_600,
            Some(2_011_000),
            Lane::Provider,
            "call A",
            "charge 12.50, answer held",
            Mark::Effect,
        ),
        moment(
            4,
            510_000,
            Some(514_000),
            Lane::Client,
            "cancel",
            "POST …/attempts/1/cancel → 200",
            Mark::Plain,
        ),
        moment(5, 512_300, None, Lane::Database, "attempt 1", "cancelled, version 1 → 2", Mark::Plain),
        moment(6, 513_000, None, Lane::Service, "job", "unknown → queued", Mark::Plain),
        moment(7, 520_000, Some(1_000_100), Lane::Attempt, "attempt 2", "running", Mark::Plain),
        moment(8, 520_200, Some(998_000), Lane::Provider, "call B", "charge 12.50 again", Mark::Effect),
        moment(9, 1_000_000, None, Lane::Database, "attempt 2", "compare-and-swap at version 2", Mark::Won),
        moment(10, 2_010_000, None, Lane::Fault, "hold", "answer of call A released", Mark::Plain),
        moment(
            11,
            2_012_000,
            None,
            Lane::Database,
            "attempt 1",
            "late result at version 1: zero rows",
            Mark::Discarded,
        ),
        moment(
            12,
            2_013_000,
            None,
            Lane::Database,
            "attempt 1",
            "result overwritten all the same",
            Mark::Broke,
        ),
        moment(
            13,
            2_020_000,
            Some(2_021_000),
            Lane::Client,
            "read",
            "GET /v1/jobs/… → succeeded by attempt 1",
            Mark::Plain,
        ),
        moment(14, 2_030_000, Some(2_030_400), Lane::Client, "retry", "POST …/retry → 409", Mark::Refused),
    ]
}

pub(crate) fn report(cells: Vec<Cell>) -> RunReport {
    RunReport {
        schema_version: SCHEMA_VERSION,
        tool_version: "0.1.0".into(),
        run_id: "019a0000-0000-7000-8000-000000000001".into(),
        started_at: "2026-12-01T08:00:00Z".into(),
        duration_us: 3_210_000,
        target: "reference".into(),
        profile: Profile { name: "job".into(), widens: vec![] },
        defects: vec![],
        database: Some("PostgreSQL 15.6, local programs".into()),
        seed: 42,
        interrupted: false,
        shard: None,
        planned: cells.len(),
        not_run: vec![],
        incomplete: None,
        sweeps: Sweeps::of(&cells),
        cells,
    }
}

/// One cell of every verdict, and a flaky one.
pub(crate) fn one_of_each() -> RunReport {
    let mut report = report(vec![
        CellBuilder::passing("double-click").at("clicks", "2").build(),
        CellBuilder::passing("double-click").at("clicks", "8").taking(412_000).build(),
        CellBuilder::passing("reverse-finish").at("order", "late-first").failing().taking(2_031_000).build(),
        CellBuilder::passing("key-reuse").at("held", "finished").flaky().build(),
        CellBuilder::passing("unknown-blocks").inconclusive().build(),
        CellBuilder::passing("read-back").error().build(),
        CellBuilder::passing("replica-joins").skipped("the target has no `replicas`").build(),
    ]);
    report.profile.widens = vec!["a duplicate in flight may get 409 in place of the job".into()];
    report.defects = vec!["last-writer-wins".into()];
    report
}

pub(crate) fn all_green() -> RunReport {
    report(vec![
        CellBuilder::passing("double-click").at("clicks", "2").build(),
        CellBuilder::passing("double-click").at("clicks", "8").taking(412_000).build(),
        CellBuilder::passing("key-reuse").at("held", "finished").build(),
    ])
}

/// Stopped after two of five cells.
pub(crate) fn interrupted() -> RunReport {
    let mut report = all_green();
    report.cells.truncate(2);
    report.planned = 5;
    report.interrupted = true;
    report.not_run = vec!["key-reuse held=finished".into(), "reverse-finish".into(), "unknown-blocks".into()];
    report
}

/// The run of [`one_of_each`] as three shards.
pub(crate) fn shards() -> Vec<RunReport> {
    let whole = one_of_each();
    (1..=3)
        .map(|index| {
            let mut shard = whole.clone();
            shard.shard = Some(Shard { index, of: 3 });
            shard.cells = whole.cells.iter().skip(index as usize - 1).step_by(3).cloned().collect();
            shard.planned = shard.cells.len();
            shard
        })
        .collect()
}

/// A suite of `n` cells, one in fifty of them failing.
pub(crate) fn suite(n: usize) -> RunReport {
    let scenarios =
        ["double-click", "key-reuse", "unknown-blocks", "reverse-finish", "cancel-race", "late-callback"];
    let cells = (0..n)
        .map(|index| {
            let scenario = format!("{}-{}", scenarios[index % scenarios.len()], index / 30);
            let cell = CellBuilder::passing(&scenario).at("clicks", &(2 + index % 30).to_string());
            let cell = cell.with(|cell| {
                let calm = calm_timeline();
                cell.timeline = (0..6u64)
                    .flat_map(|lap| {
                        calm.iter().map(move |moment| Moment {
                            id: moment.id + lap * 10,
                            at_us: moment.at_us + lap * 15_000,
                            until_us: moment.until_us.map(|until| until + lap * 15_000),
                            ..moment.clone()
                        })
                    })
                    .collect();
            });
            if index % 50 == 7 { cell.failing().build() } else { cell.build() }
        })
        .collect();
    report(cells)
}
