//! What a law says of one round.

use onejob_reports::model::Outcome;

/// The outcome of one law on one round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Name in the catalogue, or `expect:STEP`.
    pub name: String,
    /// The outcome.
    pub outcome: Outcome,
    /// What broke, or why it can't be decided; one sentence, empty where it held.
    pub sentence: String,
    /// Positions in the history of what broke the promise; empty where something is missing that should be there.
    pub evidence: Vec<u64>,
    /// Positions of what that has to be held against: the answer before the one that contradicts it. No fault in itself.
    pub against: Vec<u64>,
}

impl Judgement {
    /// The promise held.
    #[must_use]
    pub fn held(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            outcome: Outcome::Held,
            sentence: String::new(),
            evidence: Vec::new(),
            against: Vec::new(),
        }
    }

    /// The promise broke.
    #[must_use]
    pub fn broke(name: impl Into<String>, sentence: impl Into<String>, evidence: Vec<u64>) -> Self {
        Self {
            name: name.into(),
            outcome: Outcome::Broke,
            sentence: sentence.into(),
            evidence,
            against: Vec::new(),
        }
    }

    /// The promise broke because later events don't fit the earliest of them, which alone would have been fine.
    #[must_use]
    pub fn contradicted(name: impl Into<String>, sentence: impl Into<String>, mut events: Vec<u64>) -> Self {
        events.sort_unstable();
        events.dedup();
        let later = if events.len() > 1 { events.split_off(1) } else { std::mem::take(&mut events) };
        Self { against: events, ..Self::broke(name, sentence, later) }
    }

    /// The history doesn't say.
    #[must_use]
    pub fn undecided(name: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            outcome: Outcome::Undecided,
            sentence: why.into(),
            evidence: Vec::new(),
            against: Vec::new(),
        }
    }
}

/// Joins words as a sentence does: `a`, `a and b`, `a, b and c`; cuts long lists.
#[must_use]
pub(super) fn listed<T: AsRef<str>>(words: &[T]) -> String {
    const MOST: usize = 6;
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [] => "none".to_owned(),
        [one] => (*one).to_owned(),
        many if many.len() > MOST => format!("{} and {} more", many[..MOST].join(", "), many.len() - MOST),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
