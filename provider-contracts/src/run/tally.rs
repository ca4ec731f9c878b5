//! Counting samples without keeping them.

use std::collections::{BTreeMap, BTreeSet};

use super::outcomes::CaseOutcomes;
use super::report::SampleFailure;
use super::sample::SampleResult;
use crate::verdict::{Note, Verdict};

/// How many failures of one code are kept whole.
const KEPT: usize = 3;
/// How many different notes are kept.
const NOTES: usize = 100;

/// The counts of a run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Samples that passed.
    pub passed: u32,
    /// Samples by what they failed with.
    pub failed: BTreeMap<String, u32>,
    /// Refusals.
    pub refused: u32,
    /// Sent, and nobody knows.
    pub unknown: u32,
    /// Infrastructure that stayed, by code.
    pub inconclusive: BTreeMap<String, u32>,
    /// Samples that a fence-stripping consumer could have used, passed ones included.
    pub recovered: u32,
    /// Sends beyond one for each sample.
    pub retries: u32,
    /// Milliseconds and how many samples took that long.
    pub latency: BTreeMap<u64, u32>,
    /// Outputs by case, of samples at production concurrency.
    pub concurrent: BTreeMap<String, CaseOutcomes>,
    /// Outputs by case, of samples one at a time.
    pub serial: BTreeMap<String, CaseOutcomes>,
    /// Models that answered.
    pub models: BTreeSet<String>,
    /// Behind a gateway: who answered.
    pub served_by: BTreeSet<String>,
    /// Whose bytes were judged.
    pub produced_by: BTreeSet<String>,
    /// Notes and how often.
    pub notes: BTreeMap<Note, u32>,
    /// Failures kept whole.
    pub failures: Vec<SampleFailure>,
    /// The transport failed.
    pub broken: Option<String>,
}

impl Tally {
    /// Adds one sample.
    pub fn add(&mut self, result: SampleResult, serial: bool) {
        if let Some(problem) = result.broken {
            self.broken.get_or_insert(problem);
            return;
        }
        self.retries += result.sends.saturating_sub(1);
        match &result.judgement.verdict {
            Verdict::Pass => self.passed += 1,
            Verdict::Fail(code) | Verdict::Block(code) => {
                *self.failed.entry(code.to_string()).or_default() += 1;
            }
            Verdict::Refused => self.refused += 1,
            Verdict::Unknown(_) => self.unknown += 1,
            Verdict::Inconclusive(code) => *self.inconclusive.entry(code.to_string()).or_default() += 1,
        }
        let usable = result.judgement.recovered.as_ref().unwrap_or(&result.judgement.verdict);
        self.recovered += u32::from(usable.is_pass());
        let scored = !matches!(result.judgement.verdict, Verdict::Inconclusive(_));
        if scored {
            let outcomes = if serial { &mut self.serial } else { &mut self.concurrent };
            outcomes.entry(result.case.clone()).or_default().add(result.judgement.output.as_ref());
            let millis = u64::try_from(result.latency.as_millis()).unwrap_or(u64::MAX);
            *self.latency.entry(millis).or_default() += 1;
            self.produced_by.insert(result.produced_by.clone());
        }
        self.models.extend(result.model.clone());
        self.served_by.extend(result.served_by.clone());
        for note in &result.judgement.notes {
            if self.notes.len() < NOTES || self.notes.contains_key(note) {
                *self.notes.entry(note.clone()).or_default() += 1;
            }
        }
        if !result.judgement.verdict.is_pass() {
            self.keep(result);
        }
    }

    fn keep(&mut self, result: SampleResult) {
        let same = self.failures.iter().filter(|kept| kept.verdict == result.judgement.verdict).count();
        if same < KEPT {
            self.failures.push(SampleFailure::of(result));
        }
    }

    /// Samples that say something about the contract.
    #[must_use]
    pub fn scored(&self) -> u32 {
        self.passed + self.failed.values().sum::<u32>() + self.refused + self.unknown
    }

    /// The latency that `share` of the samples did not exceed, in milliseconds.
    #[must_use]
    pub fn percentile(&self, share: f64) -> u64 {
        let total: u32 = self.latency.values().sum();
        let wanted = f64::from(total) * share;
        let mut seen = 0;
        for (millis, count) in &self.latency {
            seen += count;
            if f64::from(seen) >= wanted {
                return *millis;
            }
        }
        0
    }

    /// The code that most failed samples have; of equally common ones the first by name.
    #[must_use]
    pub fn main_fault(&self) -> Option<&str> {
        let most = self.failed.values().max()?;
        self.failed.iter().find(|(_, count)| *count == most).map(|(code, _)| code.as_str())
    }
}
