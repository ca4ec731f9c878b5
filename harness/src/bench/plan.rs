//! What is measured, and in which order.

use std::fmt;

use super::{ClaimForm, Strategy};

/// What is done with a job over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// It is made.
    Create,
    /// It is asked for by two callers at a time: half of the calls are duplicates.
    Duplicate,
    /// It is made and looked at until it has its result.
    ToResult,
}

/// What one block does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Work {
    /// Decides jobs.
    Decide(Strategy),
    /// Claims keys, of which so many percent are taken.
    Claim(ClaimForm, f64),
    /// Goes through a service's jobs.
    Live(Life),
}

/// One point of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// What is done.
    pub work: Work,
    /// By how many at a time.
    pub contenders: u32,
    /// On which of the clusters.
    pub arena: usize,
}

impl Work {
    /// The name of its strategy.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decide(strategy) => strategy.name(),
            Self::Claim(form, _) => form.name(),
            Self::Live(Life::Create) => "create",
            Self::Live(Life::Duplicate) => "create-twice",
            Self::Live(Life::ToResult) => "create-to-result",
        }
    }

    /// What a rate counts.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Decide(_) => "decisions",
            Self::Claim(..) => "calls",
            Self::Live(Life::ToResult) => "jobs",
            Self::Live(_) => "requests",
        }
    }

    /// Whether the others are held against it.
    #[must_use]
    pub fn is_baseline(self) -> bool {
        match self {
            Self::Decide(strategy) => strategy == Strategy::BASELINE,
            Self::Claim(form, _) => form == ClaimForm::BASELINE,
            Self::Live(life) => life == Life::Create,
        }
    }

    /// Why pgbench can't stand beside it, where it can't.
    #[must_use]
    pub const fn without_limit(self) -> Option<&'static str> {
        match self {
            Self::Decide(strategy) => strategy.without_limit(),
            Self::Claim(form, _) => form.without_limit(),
            Self::Live(_) => None,
        }
    }

    /// The share of taken keys, in percent.
    #[must_use]
    pub const fn duplicates(self) -> Option<f64> {
        match self {
            Self::Decide(_) | Self::Live(_) => None,
            Self::Claim(_, percent) => Some(percent),
        }
    }
}

impl Point {
    /// Whether both are measured beside each other: the same but for the strategy.
    #[must_use]
    pub fn stands_beside(&self, other: &Self) -> bool {
        self.contenders == other.contenders
            && self.arena == other.arena
            && self.work.duplicates() == other.work.duplicates()
    }
}

impl fmt::Display for Point {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.work.name(), self.contenders)?;
        match self.work.duplicates() {
            Some(percent) => write!(out, " {percent}%"),
            None => Ok(()),
        }
    }
}

/// The order of a repeat's points, by their index: groups as they are planned, and within a group another one first each time,
/// so that nothing is always measured after the same neighbour.
#[must_use]
pub fn order(points: &[Point], repeat: usize) -> Vec<usize> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        match groups.iter_mut().find(|group| points[group[0]].stands_beside(point)) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    groups
        .into_iter()
        .flat_map(|mut group| {
            let turn = repeat % group.len();
            group.rotate_left(turn);
            group
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_repeat_measures_every_point_once_and_begins_a_group_elsewhere() {
        let mut points = Vec::new();
        for contenders in [1, 8] {
            for strategy in [Strategy::Cas, Strategy::ForUpdate, Strategy::Advisory] {
                points.push(Point { work: Work::Decide(strategy), contenders, arena: 0 });
            }
        }
        assert_eq!(order(&points, 0), [0, 1, 2, 3, 4, 5]);
        assert_eq!(order(&points, 1), [1, 2, 0, 4, 5, 3]);
        assert_eq!(points[3].to_string(), "cas 8");
    }
}
