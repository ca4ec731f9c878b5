//! Which profiles fit what was seen.

use super::finding::Finding;
use crate::target::{OnMismatch, OnMissing, Promises, TargetFile, profile, profiles};

/// What the service did where profiles differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Observed {
    /// Status of a duplicate, and whether it was marked.
    pub(super) repeat: Option<(u16, bool)>,
    /// Status of another payload under a known key.
    pub(super) mismatch: Option<u16>,
    /// Status of a request without a key.
    pub(super) missing: Option<u16>,
}

impl Observed {
    /// Whether promises allow all that was seen.
    fn fits(&self, promises: &Promises) -> bool {
        let good = |status: u16| (200..300).contains(&status);
        let mismatch = self.mismatch.is_none_or(|status| match promises.mismatch.answer {
            OnMismatch::Refused => promises.mismatch.status.contains(&status),
            OnMismatch::First => good(status) || promises.mismatch.status.contains(&status),
        });
        let missing = self.missing.is_none_or(|status| match promises.missing.answer {
            OnMissing::Refused => promises.missing.status.contains(&status),
            OnMissing::Allowed => good(status),
        });
        let repeat = self.repeat.is_none_or(|(status, marked)| {
            promises.replay.status.contains(&status) && (marked || !promises.replay.marked)
        });
        mismatch && missing && repeat
    }
}

/// Says whether the file's profile fits, and which others do.
pub(super) fn judge(file: &TargetFile, observed: &Observed) -> Finding {
    let named = &file.target.profile;
    if observed.fits(&file.promises()) {
        return Finding::works("profile", format!("what was seen fits the profile `{named}`"));
    }
    let fitting: Vec<_> = profiles()
        .into_iter()
        .filter(|name| *name != "custom" && profile(name).is_some_and(|promises| observed.fits(&promises)))
        .map(|name| format!("`{name}`"))
        .collect();
    let help = if fitting.is_empty() {
        "if the service means it so, `profile = \"custom\"` with [promises] says what it promises instead, and where that is \
         documented; if not, `onejob run` shows what it means"
            .to_owned()
    } else {
        format!(
            "these profiles fit: {}; take one only if it is what the service promises",
            fitting.join(", ")
        )
    };
    Finding::differs("profile", format!("what was seen does not fit the profile `{named}`")).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_tells_profiles_apart() {
        let ietf = Observed { mismatch: Some(422), missing: Some(400), repeat: None };
        let fits = |observed: &Observed| -> Vec<&str> {
            profiles().into_iter().filter(|name| profile(name).is_some_and(|p| observed.fits(&p))).collect()
        };
        assert!(fits(&ietf).contains(&"ietf"), "{:?}", fits(&ietf));
        let stripe = Observed { mismatch: Some(400), missing: Some(200), repeat: None };
        assert!(fits(&stripe).contains(&"stripe"), "{:?}", fits(&stripe));
        assert!(!fits(&stripe).contains(&"ietf"));
        let broken = Observed { mismatch: Some(500), ..Observed::default() };
        assert!(fits(&broken).is_empty());
    }
}
