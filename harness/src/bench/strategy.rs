//! Ways to decide a job once, as the statements that carry them out.
//!
//! The same text goes to the server from this program and from pgbench: `$1` is the job, `$2` the contender.

use std::{fmt, str::FromStr};

/// A way to decide a job once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strategy {
    /// One conditional update: the compare-and-swap.
    Cas,
    /// The compare-and-swap in a transaction that a loser rolls back.
    CasRollback,
    /// Lock the row, look, update.
    ForUpdate,
    /// Lock the row or give up at once, look, update.
    Nowait,
    /// Update the row unless somebody holds it.
    SkipLocked,
    /// Lock the job's number, then the compare-and-swap.
    Advisory,
    /// Look and update under SERIALIZABLE, again when the database aborts it.
    Serializable,
    /// Insert into a table of results whose key is the job.
    UniqueResult,
    /// Look, then update whatever is there: wrong, and here to show that it is noticed.
    LookThenUpdate,
}

/// The statements of a strategy, in the order in which they are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Begins a transaction, where there is one.
    pub begin: Option<&'static str>,
    /// Takes a lock; its answer means nothing.
    pub lock: Option<&'static str>,
    /// Looks whether the job is still `open`: one row with one boolean.
    pub look: Option<&'static str>,
    /// Decides. Without `answers`, the number of rows tells whether it did.
    pub decide: &'static str,
    /// Whether `decide` answers with one row, whose boolean `won` tells whether it did.
    pub answers: bool,
    /// Whether a loser rolls its transaction back instead of committing it.
    pub loser_rolls_back: bool,
    /// Whether the result is a row of its own, and not a part of the job's.
    pub own_table: bool,
}

const UPDATE: &str = "UPDATE bench_jobs SET result = 'answer of ' || $2::int, completed_by = $2::int, \
     state = 'succeeded', version = version + 1 WHERE id = $1::bigint AND version = 1 AND completed_by IS NULL";
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

const BARE: Shape = Shape {
    begin: None,
    lock: None,
    look: None,
    decide: UPDATE,
    answers: false,
    loser_rolls_back: false,
    own_table: false,
};

impl Strategy {
    /// Every strategy that keeps the promise.
    pub const SOUND: [Self; 8] = [
        Self::Cas,
        Self::CasRollback,
        Self::ForUpdate,
        Self::Nowait,
        Self::SkipLocked,
        Self::Advisory,
        Self::Serializable,
        Self::UniqueResult,
    ];

    /// The one that the others are held against.
    pub const BASELINE: Self = Self::Cas;

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cas => "cas",
            Self::CasRollback => "cas-rollback",
            Self::ForUpdate => "for-update",
            Self::Nowait => "nowait",
            Self::SkipLocked => "skip-locked",
            Self::Advisory => "advisory",
            Self::Serializable => "serializable",
            Self::UniqueResult => "unique-result",
            Self::LookThenUpdate => "look-then-update",
        }
    }

    /// Why pgbench can't stand beside it, where it can't.
    #[must_use]
    pub const fn without_limit(self) -> Option<&'static str> {
        match self {
            Self::Nowait => {
                Some("pgbench gives a client up at the error by which NOWAIT tells that a row is locked")
            }
            Self::Serializable => {
                Some("pgbench gives a client up when the SELECT whose answer it keeps is aborted")
            }
            _ => None,
        }
    }

    /// Its statements.
    #[must_use]
    pub const fn shape(self) -> Shape {
        match self {
            Self::Cas => BARE,
            Self::CasRollback => Shape {
                begin: Some(BEGIN),
                decide: "WITH decided AS (UPDATE bench_jobs SET result = 'answer of ' || $2::int, \
                     completed_by = $2::int, state = 'succeeded', version = version + 1 \
                     WHERE id = $1::bigint AND version = 1 AND completed_by IS NULL RETURNING 1) \
                     SELECT count(*) = 1 AS won FROM decided",
                answers: true,
                loser_rolls_back: true,
                ..BARE
            },
            Self::ForUpdate => Shape {
                begin: Some(BEGIN),
                look: Some(
                    "SELECT completed_by IS NULL AS open FROM bench_jobs WHERE id = $1::bigint FOR UPDATE",
                ),
                ..BARE
            },
            Self::Nowait => Shape {
                begin: Some(BEGIN),
                look: Some(
                    "SELECT completed_by IS NULL AS open FROM bench_jobs WHERE id = $1::bigint FOR UPDATE NOWAIT",
                ),
                ..BARE
            },
            Self::SkipLocked => Shape {
                decide: "UPDATE bench_jobs SET result = 'answer of ' || $2::int, completed_by = $2::int, \
                     state = 'succeeded', version = version + 1 \
                     WHERE id = (SELECT id FROM bench_jobs WHERE id = $1::bigint AND version = 1 \
                                 AND completed_by IS NULL FOR UPDATE SKIP LOCKED)",
                ..BARE
            },
            Self::Advisory => {
                Shape { begin: Some(BEGIN), lock: Some("SELECT pg_advisory_xact_lock($1::bigint)"), ..BARE }
            }
            Self::Serializable => Shape {
                begin: Some("BEGIN ISOLATION LEVEL SERIALIZABLE"),
                look: Some("SELECT completed_by IS NULL AS open FROM bench_jobs WHERE id = $1::bigint"),
                ..BARE
            },
            Self::UniqueResult => Shape {
                decide: "INSERT INTO bench_results (job, completed_by, result) \
                     VALUES ($1::bigint, $2::int, 'answer of ' || $2::int) ON CONFLICT (job) DO NOTHING",
                own_table: true,
                ..BARE
            },
            Self::LookThenUpdate => Shape {
                look: Some("SELECT completed_by IS NULL AS open FROM bench_jobs WHERE id = $1::bigint"),
                decide: "UPDATE bench_jobs SET result = 'answer of ' || $2::int, completed_by = $2::int, \
                     state = 'succeeded', version = version + 1 WHERE id = $1::bigint",
                ..BARE
            },
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// There is no such strategy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no strategy `{name}`; there are {known}")]
pub struct UnknownStrategy {
    pub(super) name: String,
    pub(super) known: String,
}

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::SOUND.into_iter().chain([Self::LookThenUpdate]).find(|it| it.name() == text).ok_or_else(|| {
            let known: Vec<_> = Self::SOUND.iter().map(|it| it.name()).collect();
            UnknownStrategy { name: text.to_owned(), known: known.join(", ") }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back_and_a_wrong_one_tells_the_right_ones() {
        for strategy in Strategy::SOUND {
            assert_eq!(strategy.name().parse(), Ok(strategy));
        }
        let told = "optimism".parse::<Strategy>().unwrap_err().to_string();
        assert!(told.contains("for-update") && !told.contains("look-then-update"), "{told}");
    }
}
