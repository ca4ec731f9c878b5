//! What somebody may have meant.

/// The candidate that is close enough to `word` to be what was meant.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let wanted = plain(word);
    candidates
        .into_iter()
        .map(|candidate| {
            let other = plain(candidate);
            let typo = strsim::damerau_levenshtein(&wanted, &other);
            let close = typo <= 1 + wanted.chars().count() / 5 && typo < wanted.chars().count();
            let alike = strsim::jaro_winkler(&wanted, &other);
            (candidate, close, alike)
        })
        .filter(|(_, close, alike)| *close || *alike > 0.87)
        .max_by(|(_, _, one), (_, _, other)| one.total_cmp(other))
        .map(|(candidate, ..)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_finger_is_recognised() {
        let keys = ["together", "times", "gate", "open", "until"];
        for (typed, meant) in
            [("togehter", "together"), ("tims", "times"), ("time", "times"), ("Until", "until")]
        {
            assert_eq!(nearest(typed, keys), Some(meant), "{typed}");
        }
    }

    #[test]
    fn hyphen_and_underscore_are_the_same_slip() {
        assert_eq!(nearest("cancel_attempt", ["cancel", "cancel-attempt"]), Some("cancel-attempt"));
    }

    #[test]
    fn what_is_far_from_everything_gets_no_suggestion() {
        assert_eq!(nearest("sleep", ["together", "times", "gate"]), None);
        assert_eq!(nearest("x", ["do", "id"]), None);
    }
}
