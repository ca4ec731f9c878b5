//! Ways to claim a key once, as the statements that carry them out.
//!
//! The same text goes to the server from this program and from pgbench: `$1` is the number of the call, which becomes the
//! job's id if the call makes it, and `$2` the key. So who made a row is told by the row itself.

use std::{fmt, str::FromStr};

use super::strategy::UnknownStrategy;

/// A way to claim a key once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClaimForm {
    /// Insert unless it is there; where it is, a second statement reads whose it is.
    InsertThenLook,
    /// One statement: read it, and where it isn't there insert it, or touch the row that came between.
    LookOrInsert,
    /// One statement: insert it or touch the row that is there.
    Upsert,
    /// Lock the key's number, then insert unless it is there, then read.
    Advisory,
    /// Read, insert when it isn't there, under SERIALIZABLE; again when the database aborts it.
    Serializable,
    /// Insert unless it is there, united in one statement with the read: loses calls, and is here to show that it is
    /// noticed.
    InsertUnionLook,
}

/// The statements of a form, in the order in which they are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimShape {
    /// Begins a transaction, where there is one.
    pub begin: Option<&'static str>,
    /// Takes a lock; its answer means nothing.
    pub lock: Option<&'static str>,
    /// Reads before anything is written.
    pub first: Option<&'static str>,
    /// Writes where there is nothing yet; answers with the row, or with none where another's is in the way.
    pub insert: &'static str,
    /// Reads the other's row where `insert` had none.
    pub then: Option<&'static str>,
}

const LOOK_ALONE: &str = "SELECT id FROM bench_keys WHERE owner = 'bench' AND key = $1::text";
const INSERT: &str = "INSERT INTO bench_keys (id, owner, key) VALUES ($1::bigint, 'bench', $2::text) \
     ON CONFLICT (owner, key) DO NOTHING RETURNING id";
const BARE: ClaimShape =
    ClaimShape { begin: None, lock: None, first: None, insert: INSERT, then: Some(LOOK_ALONE) };

impl ClaimForm {
    /// Every form that keeps the promise.
    pub const SOUND: [Self; 5] =
        [Self::InsertThenLook, Self::LookOrInsert, Self::Upsert, Self::Advisory, Self::Serializable];

    /// The one that the others are held against: the reference service's.
    pub const BASELINE: Self = Self::InsertThenLook;

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InsertThenLook => "insert-then-look",
            Self::LookOrInsert => "look-or-insert",
            Self::Upsert => "upsert",
            Self::Advisory => "advisory",
            Self::Serializable => "serializable",
            Self::InsertUnionLook => "insert-union-look",
        }
    }

    /// Why pgbench can't stand beside it, where it can't.
    #[must_use]
    pub const fn without_limit(self) -> Option<&'static str> {
        match self {
            Self::Serializable => {
                Some("pgbench gives a client up at a unique violation, which SERIALIZABLE may end in")
            }
            _ => None,
        }
    }

    /// Its statements.
    #[must_use]
    pub const fn shape(self) -> ClaimShape {
        match self {
            Self::InsertThenLook => BARE,
            Self::LookOrInsert => ClaimShape {
                insert: "WITH old AS MATERIALIZED (SELECT id FROM bench_keys WHERE owner = 'bench' AND key = $2::text), \
                     made AS (INSERT INTO bench_keys (id, owner, key) \
                        SELECT $1::bigint, 'bench', $2::text WHERE NOT EXISTS (SELECT FROM old) \
                        ON CONFLICT (owner, key) DO UPDATE SET owner = excluded.owner RETURNING id) \
                     SELECT id FROM old UNION ALL SELECT id FROM made",
                then: None,
                ..BARE
            },
            Self::Upsert => ClaimShape {
                insert: "INSERT INTO bench_keys (id, owner, key) VALUES ($1::bigint, 'bench', $2::text) \
                     ON CONFLICT (owner, key) DO UPDATE SET owner = excluded.owner RETURNING id",
                then: None,
                ..BARE
            },
            Self::Advisory => ClaimShape {
                begin: Some("BEGIN ISOLATION LEVEL READ COMMITTED"),
                lock: Some("SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))"),
                ..BARE
            },
            Self::Serializable => ClaimShape {
                begin: Some("BEGIN ISOLATION LEVEL SERIALIZABLE"),
                first: Some(LOOK_ALONE),
                insert: "INSERT INTO bench_keys (id, owner, key) VALUES ($1::bigint, 'bench', $2::text) RETURNING id",
                then: None,
                ..BARE
            },
            Self::InsertUnionLook => ClaimShape {
                insert: "WITH made AS (INSERT INTO bench_keys (id, owner, key) VALUES ($1::bigint, 'bench', $2::text) \
                        ON CONFLICT (owner, key) DO NOTHING RETURNING id) \
                     SELECT id FROM made UNION ALL SELECT id FROM bench_keys WHERE owner = 'bench' AND key = $2::text \
                     LIMIT 1",
                then: None,
                ..BARE
            },
        }
    }
}

impl fmt::Display for ClaimForm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl FromStr for ClaimForm {
    type Err = UnknownStrategy;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::SOUND.into_iter().chain([Self::InsertUnionLook]).find(|it| it.name() == text).ok_or_else(|| {
            let known: Vec<_> = Self::SOUND.iter().map(|it| it.name()).collect();
            UnknownStrategy { name: text.to_owned(), known: known.join(", ") }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back() {
        for form in ClaimForm::SOUND.into_iter().chain([ClaimForm::InsertUnionLook]) {
            assert_eq!(form.name().parse(), Ok(form));
        }
        assert!("merge".parse::<ClaimForm>().is_err());
    }
}
