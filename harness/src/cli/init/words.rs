//! Words that services use for states, by what they mean.

use std::collections::BTreeMap;

/// Meaning and words, the most usual first. A word is compared in lower case, with hyphens and spaces as underscores.
const USUAL: [(&str, &[&str]); 6] = [
    (
        "accepted",
        &[
            "queued",
            "pending",
            "accepted",
            "created",
            "scheduled",
            "submitted",
            "waiting",
            "received",
            "new",
            "todo",
            "ready",
        ],
    ),
    (
        "running",
        &["running", "processing", "in_progress", "started", "active", "working", "doing", "executing"],
    ),
    ("unknown", &["unknown", "indeterminate", "uncertain"]),
    (
        "succeeded",
        &[
            "succeeded",
            "success",
            "successful",
            "completed",
            "complete",
            "done",
            "finished",
            "ok",
            "paid",
            "confirmed",
            "fulfilled",
            "captured",
            "settled",
            "processed",
        ],
    ),
    (
        "failed",
        &[
            "failed", "failure", "error", "errored", "declined", "rejected", "dead", "crashed", "refused",
            "expired",
        ],
    ),
    ("cancelled", &["cancelled", "canceled", "aborted", "revoked", "voided"]),
];

/// What a word means, where it is a usual one.
pub(super) fn meaning(word: &str) -> Option<&'static str> {
    let plain = word.to_lowercase().replace(['-', ' '], "_");
    USUAL.iter().find(|(_, words)| words.contains(&plain.as_str())).map(|(meaning, _)| *meaning)
}

/// The meanings, in the order in which they are written.
pub(super) fn meanings() -> impl Iterator<Item = &'static str> {
    USUAL.iter().map(|(meaning, _)| *meaning)
}

/// The usual words by their meaning: a few of each.
pub(super) fn usual() -> BTreeMap<String, Vec<String>> {
    let few = |words: &[&str]| words.iter().take(6).map(|word| (*word).to_owned()).collect();
    USUAL.iter().map(|(meaning, words)| ((*meaning).to_owned(), few(words))).collect()
}

/// Sorts words by what they mean; those whose meaning isn't known come back by themselves.
pub(super) fn sorted<'w>(
    words: impl IntoIterator<Item = &'w str>,
) -> (BTreeMap<String, Vec<String>>, Vec<String>) {
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut strange = Vec::new();
    for word in words {
        match meaning(word) {
            Some(meaning) => known.entry(meaning.to_owned()).or_default().push(word.to_owned()),
            None => strange.push(word.to_owned()),
        }
    }
    (known, strange)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_has_two_meanings() {
        let mut seen = std::collections::BTreeSet::new();
        for (_, words) in USUAL {
            assert!(words.iter().all(|word| seen.insert(*word)), "{words:?}");
        }
    }

    #[test]
    fn spelling_does_not_matter_and_strange_words_are_told() {
        let (known, strange) = sorted(["In-Progress", "DONE", "limbo"]);
        assert_eq!(known["running"], ["In-Progress"]);
        assert_eq!(known["succeeded"], ["DONE"]);
        assert_eq!(strange, ["limbo"]);
    }
}
