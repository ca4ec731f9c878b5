//! Points of a benchmark by their names, and the lines that they are on.

use super::{BenchReport, Row, Subject};
use crate::sheet::figure;

impl Subject {
    /// The word of the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Cas => "cas",
            Self::Claim => "claim",
            Self::Lifecycle => "lifecycle",
        }
    }

    /// What is measured, as a sentence.
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::Cas => "Contenders decide one job after the other.",
            Self::Claim => "Callers claim keys, some of them taken already.",
            Self::Lifecycle => "From a job's creation to its result, over HTTP.",
        }
    }
}

impl Row {
    /// The line of a plot that the point is on: `cas`, `insert-then-look 50 % taken`, `cas at 400/s`.
    pub(super) fn line(&self) -> String {
        let mut name = self.strategy.clone();
        if let Some(share) = self.duplicates {
            name = format!("{name} {} % taken", figure(share));
        }
        if let Some(rate) = self.intended_rate {
            name = format!("{name} at {}/s", figure(rate));
        }
        name
    }

    /// The point: its line and how many are in flight.
    pub(super) fn point(&self) -> String {
        format!("{} × {}", self.line(), self.contenders)
    }
}

/// The clusters in the order in which they first come, each with its rows.
pub(super) fn by_cluster(report: &BenchReport) -> Vec<(&str, Vec<&Row>)> {
    let mut clusters: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in &report.rows {
        match clusters.iter_mut().find(|(name, _)| *name == row.cluster) {
            Some((_, rows)) => rows.push(row),
            None => clusters.push((&row.cluster, vec![row])),
        }
    }
    clusters
}

/// What a cluster is, in words.
pub(super) fn cluster_words(name: &str) -> String {
    match name {
        "scratch" => "Scratch cluster: nothing is flushed to disk".to_owned(),
        "durable" => "Durable cluster: decisions are flushed to disk".to_owned(),
        "lent" => "Your own server, as it is set".to_owned(),
        "target" => "The target's own database".to_owned(),
        other => other.to_owned(),
    }
}
