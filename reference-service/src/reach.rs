//! Notes which defects could have made a difference to what came, without planting any. A suite that tries every
//! scenario on every defect needs not try those that can't be told from the honest service.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use crate::Defect;
use crate::rules::Rules;

/// Situations in which a defect shows that is more than another decision on the same input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// A key was claimed.
    Claim,
    /// A key was claimed for a job that is to run later.
    ScheduledClaim,
    /// A claim did not come to its end.
    ClaimCut,
    /// A claim found its key taken.
    Duplicate,
    /// A claim found the key of a job that failed.
    DuplicateOfFailed,
    /// A request's body was refused.
    RefusedBody,
    /// A client hung up before it was answered.
    ClientGone,
    /// Somebody without valid credentials asked.
    Anonymous,
    /// A job was not found, or belongs to somebody else.
    NotFound,
    /// A job was cancelled.
    Cancelled,
    /// Old jobs were looked for.
    Purge,
    /// An old job was purged.
    Purged,
    /// A job was unknown for too long.
    Overdue,
    /// An attempt became unknown.
    UnknownAttempt,
    /// An attempt started for a job that had one.
    SecondAttempt,
    /// A request named the version that it is about.
    Precondition,
    /// Somebody decided over a job whose provider is being called.
    DecidedWhileOut,
    /// A result that was allowed to be written was not.
    LostRace,
    /// A lease was renewed.
    Heartbeat,
    /// A lease was renewed by a process whose clock is not the database's.
    ClockOff,
    /// A provider's answer was lost.
    AnswerLost,
    /// An event was delivered again.
    CallbackAgain,
    /// What a worker wrote had to wait for a row, or was not taken at once.
    RowHeld,
    /// The database did not take a transaction.
    DatabaseTrouble,
    /// Somebody asked whether a job may move to another provider.
    FailoverAsked,
    /// A job that had moved was not to be sent after all.
    TurnedAway,
    /// The database is reached through a pooler.
    Pooled,
    /// The process was asked to end.
    Drain,
}

impl Defect {
    /// When it shows, beside the moments at which it decides otherwise or names something otherwise: those are found
    /// by comparison.
    const fn occasions(self) -> &'static [Occasion] {
        match self {
            Self::CheckThenInsert
            | Self::UniqueViolationIs500
            | Self::ClaimInMemory
            | Self::KeysInMemory
            | Self::KeyIgnored
            | Self::KeyLockLeftBehind => &[Occasion::Duplicate, Occasion::ClaimCut],
            Self::DroppedWithTheClient => &[Occasion::Duplicate, Occasion::ClaimCut, Occasion::ClientGone],
            Self::EnqueueAfterCommit => &[Occasion::ClaimCut],
            Self::AnswerBeforeCommit => &[Occasion::Claim],
            Self::TimerInMemory => &[Occasion::ScheduledClaim],
            Self::FailedFreesKey => &[Occasion::DuplicateOfFailed],
            Self::InvalidBodyClaims => &[Occasion::RefusedBody],
            Self::AnonymousAccepted => &[Occasion::Anonymous],
            Self::LookupIgnoresOwner => &[Occasion::NotFound],
            Self::CancelFreesKey => &[Occasion::Cancelled],
            Self::RetentionIgnoresState => &[Occasion::Purge],
            Self::NoTombstone => &[Occasion::Purged],
            Self::OverdueIsFailed => &[Occasion::Overdue],
            Self::UnknownDoesNotBlock => &[Occasion::UnknownAttempt],
            Self::LastWriterWins | Self::StatusOnlyCas | Self::WorkerNameFence => &[Occasion::LostRace],
            Self::CallbackEachTime => &[Occasion::CallbackAgain, Occasion::LostRace],
            // Its versions differ everywhere, and matter only to whoever compares them.
            Self::StartFences => &[Occasion::SecondAttempt, Occasion::Precondition],
            Self::NoHeartbeat => &[Occasion::Heartbeat],
            Self::LeaseByWorkerClock => &[Occasion::ClockOff],
            Self::EffectBeforeMark => &[Occasion::DecidedWhileOut, Occasion::DatabaseTrouble],
            Self::HiddenResend => &[Occasion::AnswerLost],
            Self::ConflictRepeatsEffect | Self::AttemptAfterCommit | Self::AsynchronousCommit => {
                &[Occasion::DatabaseTrouble]
            }
            Self::ResultGivenUp => &[Occasion::RowHeld],
            Self::NamedStatements => &[Occasion::Pooled],
            Self::FailoverUngated | Self::AttestationCached | Self::AttestationByName => {
                &[Occasion::FailoverAsked]
            }
            Self::PermitKept => &[Occasion::TurnedAway],
            Self::ShutdownAbandons => &[Occasion::Drain],
            // Found by comparison alone.
            Self::MismatchIgnored
            | Self::PayloadIsKey
            | Self::KeylessAccepted
            | Self::FirstKeyWins
            | Self::KeyMended
            | Self::KeyTruncated
            | Self::QuotedIsAnotherKey
            | Self::TimeoutIsFailed
            | Self::ScheduledIgnoresKey
            | Self::BatchIgnoresKeys
            | Self::KeyWithoutOwner
            | Self::KeyCaseFolded
            | Self::FingerprintBodyOnly
            | Self::BytesFingerprint
            | Self::RoundedNumbers
            | Self::LastMemberWins
            | Self::ServerErrorIsFailed
            | Self::BrokenIsRefused
            | Self::RefusedIsUnknown
            | Self::DuplicateIsFailed
            | Self::NotFoundTooEarly
            | Self::LiveDoesNotBlock
            | Self::GivenUpRunsAgain
            | Self::PreconditionIgnored
            | Self::LapsedMeansRepeat
            | Self::CancelOverwrites
            | Self::CancelIgnoresEffect
            | Self::UnsignedCallback
            | Self::ReplayedCallback
            | Self::ReferencePerAttempt
            | Self::TracePerAttempt
            | Self::FailoverOnUnknown => &[],
        }
    }
}

/// Where it is noted what was reached; nowhere unless somebody asks.
#[derive(Clone, Default)]
pub(crate) struct Reach(Option<Arc<Notes>>);

struct Notes {
    written: Mutex<Written>,
    others: Vec<(Defect, Rules)>,
    next: AtomicU64,
}

struct Written {
    file: File,
    known: BTreeSet<String>,
}

impl Reach {
    /// Notes into a file, which processes may share. Each note is there at once: a process may be killed any time.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::options().create(true).append(true).open(path)?;
        let others = Defect::ALL.iter().map(|&defect| {
            let mut rules = Rules::honest();
            defect.plant(&mut rules);
            (defect, rules)
        });
        Ok(Self(Some(Arc::new(Notes {
            written: Mutex::new(Written { file, known: BTreeSet::new() }),
            others: others.collect(),
            next: AtomicU64::new(u64::from(std::process::id()) << 32),
        }))))
    }

    /// Notes the defects that would have decided otherwise.
    pub(crate) fn decided<T: PartialEq>(&self, honestly: &T, decide: impl Fn(&Rules) -> T) {
        let Some(notes) = &self.0 else { return };
        for (defect, rules) in &notes.others {
            if decide(rules) != *honestly {
                notes.write(&["met", defect.name()]);
            }
        }
    }

    /// Notes what defects would have named something. Whether that makes a difference shows when all names of that
    /// sort are known: another name is as good as the honest one, unless it joins or divides what it names.
    pub(crate) fn named(&self, sort: &str, honestly: &str, name: impl Fn(&Rules) -> String) {
        let Some(notes) = &self.0 else { return };
        notes.write(&["name", sort, &hash(honestly)]);
        for (defect, rules) in &notes.others {
            let other = name(rules);
            if other != honestly {
                notes.write(&["alias", sort, &hash(honestly), defect.name(), &hash(&other)]);
            }
        }
    }

    /// The same where the name is not one of the rules'.
    pub(crate) fn renamed(&self, sort: &str, honestly: &str, defect: Defect, other: &str) {
        let Some(notes) = &self.0 else { return };
        notes.write(&["name", sort, &hash(honestly)]);
        notes.write(&["alias", sort, &hash(honestly), defect.name(), &hash(other)]);
    }

    /// Notes the defects that show on such an occasion.
    pub(crate) fn met(&self, occasion: Occasion) {
        let Some(notes) = &self.0 else { return };
        for (defect, _) in &notes.others {
            if defect.occasions().contains(&occasion) {
                notes.write(&["met", defect.name()]);
            }
        }
    }

    /// Something that makes an occasion if it doesn't come to its end, be it that the process is killed.
    pub(crate) fn begin(&self, occasion: Occasion) -> Begun {
        let Some(notes) = &self.0 else { return Begun(None) };
        let number = notes.next.fetch_add(1, Ordering::Relaxed).to_string();
        for (defect, _) in &notes.others {
            if defect.occasions().contains(&occasion) {
                notes.write(&["begun", &number, defect.name()]);
            }
        }
        Begun(Some((self.clone(), number)))
    }

    /// Whether anybody wants to know.
    pub(crate) fn wanted(&self) -> bool {
        self.0.is_some()
    }
}

/// What was begun and has not ended.
pub(crate) struct Begun(Option<(Reach, String)>);

impl Begun {
    /// It came to its end.
    pub(crate) fn ended(self) {
        if let Some((Reach(Some(notes)), number)) = self.0 {
            notes.write(&["ended", &number]);
        }
    }
}

impl Notes {
    fn write(&self, words: &[&str]) {
        let mut line = words.join("\t");
        line.push('\n');
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        // Where a note can't be written the pair is taken for unreached, and a defect that survives is looked at.
        if !written.known.contains(&line) && written.file.write_all(line.as_bytes()).is_ok() {
            written.known.insert(line);
        }
    }
}

impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.wanted() { "Reach(noted)" } else { "Reach(not noted)" })
    }
}

/// Keys and payloads are nobody's business; only which of them are the same.
fn hash(text: &str) -> String {
    let digest = Sha256::digest(text);
    digest.iter().take(8).fold(String::new(), |mut digits, byte| {
        // Writing to a String can't fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// The names of the defects that a play could have told from the honest service, from the notes of its processes.
#[must_use]
pub fn reached(notes: &str) -> BTreeSet<String> {
    let mut met = BTreeSet::new();
    let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut aliases: BTreeMap<(&str, &str), BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    let mut begun: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in notes.lines() {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["met", defect] => {
                met.insert(defect.to_owned());
            }
            ["name", sort, name] => {
                names.entry(sort).or_default().insert(name);
            }
            ["alias", sort, name, defect, other] => {
                aliases.entry((sort, defect)).or_default().entry(name).or_default().insert(other);
            }
            ["begun", number, defect] => begun.entry(number).or_default().push(defect),
            ["ended", number] => {
                begun.remove(number);
            }
            _ => {}
        }
    }
    met.extend(begun.into_values().flatten().map(str::to_owned));
    for ((sort, defect), others) in aliases {
        let mut taken = BTreeSet::new();
        let same = names.get(sort).into_iter().flatten().any(|name| {
            let other = others.get(name);
            let divided = other.is_some_and(|other| other.len() > 1);
            let joined = !taken.insert(other.and_then(|other| other.first()).unwrap_or(name));
            divided || joined
        });
        if same {
            met.insert(defect.to_owned());
        }
    }
    met
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(note: impl FnOnce(&Reach)) -> BTreeSet<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("reach");
        note(&Reach::open(&path).expect("a file"));
        reached(&std::fs::read_to_string(&path).expect("notes"))
    }

    fn keys(reach: &Reach, keys: &[&str]) {
        for key in keys {
            reach.named("key", key, |rules| (rules.key)(key));
        }
    }

    #[test]
    fn a_decision_that_would_have_been_another_is_reached() {
        let (same, other) = (
            noted(|reach| reach.decided(&true, |rules| (rules.same_intent)(&[b'a'; 32], &fingerprint(b'a')))),
            noted(|reach| {
                reach.decided(&false, |rules| (rules.same_intent)(&[b'b'; 32], &fingerprint(b'a')));
            }),
        );
        assert!(!same.contains("last-writer-wins") && !other.contains("last-writer-wins"));
        assert!(other.contains("mismatch-ignored"), "{other:?}");
    }

    fn fingerprint(byte: u8) -> crate::domain::Fingerprint {
        crate::domain::Fingerprint([byte; 32])
    }

    #[test]
    fn a_name_matters_where_it_joins_or_divides() {
        assert_eq!(noted(|reach| keys(reach, &["K", "L", "K"])), BTreeSet::new());
        assert_eq!(noted(|reach| keys(reach, &["K", "k"])), ["key-case-folded".to_owned()].into());
        let twice = |reach: &Reach| {
            for _ in 0..2 {
                reach.named("key", "k", |rules| (rules.batch_key)("k"));
            }
        };
        assert_eq!(noted(twice), ["batch-ignores-keys".to_owned()].into());
    }

    #[test]
    fn what_was_begun_and_did_not_end_is_reached() {
        assert!(noted(|reach| reach.begin(Occasion::ClaimCut).ended()).is_empty());
        assert!(noted(|reach| drop(reach.begin(Occasion::ClaimCut))).contains("enqueue-after-commit"));
    }

    #[test]
    fn an_occasion_reaches_those_that_show_on_it() {
        assert_eq!(noted(|reach| reach.met(Occasion::Heartbeat)), ["no-heartbeat".to_owned()].into());
    }
}
