use std::collections::BTreeMap;

use super::Secrets;
use crate::model::{Cell, CellError, Moment, Profile, Progress, Promise, RunReport, Source, Witness};

/// Every type is taken apart by name, none of its fields left out: a field that is added later doesn't compile until
/// somebody has decided whether a secret can travel in it.
impl Secrets {
    /// The report without secrets, in every text that it holds.
    #[must_use]
    pub fn report(&self, report: RunReport) -> RunReport {
        let RunReport {
            schema_version,
            tool_version,
            run_id,
            started_at,
            duration_us,
            target,
            profile: Profile { name, widens },
            defects,
            database,
            seed,
            interrupted,
            shard,
            planned,
            not_run,
            incomplete,
            sweeps,
            cells,
        } = report;
        RunReport {
            schema_version,
            tool_version: self.owned(tool_version),
            run_id: self.owned(run_id),
            started_at: self.owned(started_at),
            duration_us,
            target: self.owned(target),
            profile: Profile { name: self.owned(name), widens: self.all(widens) },
            defects: self.all(defects),
            database: database.map(|database| self.owned(database)),
            seed,
            interrupted,
            shard,
            planned,
            not_run: not_run.iter().map(|name| self.without_values(name).into_owned()).collect(),
            incomplete: incomplete.map(|why| self.without_values(&why).into_owned()),
            sweeps,
            cells: cells.into_iter().map(|cell| self.cell(cell)).collect(),
        }
    }

    /// The cell without secrets.
    #[must_use]
    pub fn cell(&self, cell: Cell) -> Cell {
        let Cell {
            scenario,
            title,
            why,
            tags,
            covers,
            at,
            source: Source { file, line },
            verdict,
            flaky,
            rounds,
            repeats,
            duration_us,
            setup_us,
            gate,
            promises,
            witnesses,
            skipped,
            error,
            kills,
            timeline,
            moments_left_out,
            replay,
            curl,
        } = cell;
        let points: Vec<String> = at.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
        Cell {
            scenario: self.owned(scenario),
            title: self.owned(title),
            why: self.owned(why),
            tags: self.all(tags),
            covers: self.all(covers),
            at: self.point(&at),
            source: Source { file: self.owned(file), line },
            verdict,
            flaky,
            rounds,
            repeats,
            duration_us,
            setup_us,
            gate: gate.map(|gate| self.owned(gate)),
            promises: promises.into_iter().map(|promise| self.promise(promise)).collect(),
            witnesses: witnesses.into_iter().map(|witness| self.witness(witness)).collect(),
            skipped: skipped.map(|reason| self.owned(reason)),
            error: error.map(|error| self.error(error)),
            kills,
            timeline: timeline.into_iter().map(|moment| self.moment(moment)).collect(),
            moments_left_out,
            replay: self.text_with(&replay, &points),
            curl: self.all(curl),
        }
    }

    /// The step of a run without secrets.
    #[must_use]
    pub fn progress(&self, progress: Progress) -> Progress {
        match progress {
            Progress::RunStarted { target, database, cells } => Progress::RunStarted {
                target: self.owned(target),
                database: database.map(|database| self.owned(database)),
                cells,
            },
            Progress::CellStarted { scenario, at } => {
                Progress::CellStarted { scenario: self.owned(scenario), at: self.point(&at) }
            }
            Progress::CellFinished { cell } => Progress::CellFinished { cell: Box::new(self.cell(*cell)) },
            Progress::RunFinished { report } => {
                Progress::RunFinished { report: Box::new(self.report(*report)) }
            }
        }
    }

    fn promise(&self, promise: Promise) -> Promise {
        let Promise { name, outcome, sentence, broken_rounds, evidence, line } = promise;
        Promise {
            name: self.owned(name),
            outcome,
            sentence: self.owned(sentence),
            broken_rounds,
            evidence,
            line,
        }
    }

    fn witness(&self, witness: Witness) -> Witness {
        let Witness { name, seen, rounds_seen, detail } = witness;
        Witness { name: self.owned(name), seen, rounds_seen, detail: self.owned(detail) }
    }

    fn error(&self, error: CellError) -> CellError {
        let CellError { code, message, help, exit } = error;
        CellError { code: self.owned(code), message: self.owned(message), help: self.owned(help), exit }
    }

    fn moment(&self, moment: Moment) -> Moment {
        let Moment { id, at_us, until_us, lane, who, what, mark } = moment;
        Moment { id, at_us, until_us, lane, who: self.owned(who), what: self.owned(what), mark }
    }

    /// What stands here comes from the scenario's file: only known values are secrets in it.
    fn point(&self, at: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let clean = |text: &str| self.without_values(text).into_owned();
        at.iter().map(|(axis, value)| (clean(axis), clean(value))).collect()
    }

    pub(super) fn all(&self, texts: Vec<String>) -> Vec<String> {
        texts.into_iter().map(|text| self.owned(text)).collect()
    }

    pub(super) fn owned(&self, text: String) -> String {
        let clean = match self.text(&text) {
            std::borrow::Cow::Borrowed(_) => None,
            std::borrow::Cow::Owned(clean) => Some(clean),
        };
        clean.unwrap_or(text)
    }
}
