//! Explorations without secrets.

use super::Secrets;
use crate::explore::{Coverage, ExploreReport, Failure, Map, Pair, Unplayed};

/// As for reports: every type is taken apart by name.
impl Secrets {
    /// The exploration without secrets, in every text that it holds.
    #[must_use]
    pub fn exploration(&self, report: ExploreReport) -> ExploreReport {
        let ExploreReport {
            schema_version,
            tool_version,
            command,
            started_at,
            duration_us,
            target,
            defects,
            database,
            seed,
            digest,
            digested,
            played,
            unclear,
            faults,
            interrupted,
            failure,
            others,
            coverage: Coverage { jobs, attempts },
        } = report;
        ExploreReport {
            schema_version,
            tool_version: self.owned(tool_version),
            command: self.owned(command),
            started_at: self.owned(started_at),
            duration_us,
            target: self.owned(target),
            defects: self.all(defects),
            database: database.map(|database| self.owned(database)),
            seed,
            digest: self.owned(digest),
            digested,
            played,
            unclear,
            faults: faults
                .into_iter()
                .map(|Unplayed { plan, code, message }| Unplayed {
                    plan,
                    code: self.owned(code),
                    message: self.owned(message),
                })
                .collect(),
            interrupted,
            failure: failure.map(|failure| self.failure(failure)),
            others: others.into_iter().map(|failure| self.failure(failure)).collect(),
            coverage: Coverage { jobs: self.map(jobs), attempts: self.map(attempts) },
        }
    }

    fn failure(&self, failure: Failure) -> Failure {
        let Failure {
            plan,
            promise,
            sentence,
            steps,
            steps_before,
            tried,
            failed,
            trials,
            rounds,
            file,
            scenario,
            replay,
        } = failure;
        Failure {
            plan,
            promise: self.owned(promise),
            sentence: self.owned(sentence),
            steps,
            steps_before,
            tried,
            failed,
            trials,
            rounds,
            file: file.map(|file| self.owned(file)),
            // It is to be the file, byte for byte, and a scenario's own `signature = "forged"` is no credential.
            scenario: self.without_values(&scenario).into_owned(),
            replay: self.owned(replay),
        }
    }

    fn map(&self, Map { states, events, reached }: Map) -> Map {
        let reached = reached.into_iter().map(|Pair { state, event, count }| Pair {
            state: self.owned(state),
            event: self.owned(event),
            count,
        });
        Map { states: self.all(states), events: self.all(events), reached: reached.collect() }
    }
}
