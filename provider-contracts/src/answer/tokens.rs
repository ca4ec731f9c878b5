//! What reported token counts say about the window and about our own estimate.

use super::canonical::{Answer, Usage};
use crate::verdict::Verdict;

/// What was expected of a call, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TokenExpectation {
    /// The prompt, counted by the provider's own tokenizer, or estimated.
    pub prompt: Option<u64>,
    /// How far the reported count may be below, as a share. A prompt that was cut is far below.
    pub tolerance: f64,
    /// By which factor the reported count may be above.
    pub factor: f64,
    /// What the provider may add to the prompt on its own: its chat format, and the schema, which most put into it.
    pub overhead: u64,
    /// The window that the provider is declared to have.
    pub window: Option<u64>,
    /// The output limit that was sent.
    pub max_output: Option<u64>,
}

impl TokenExpectation {
    /// The most prompt tokens that the provider may count before it is found out.
    pub(crate) fn most_input(&self) -> u64 {
        let counted = float(self.prompt.unwrap_or(0)) * self.factor.max(1.0);
        // A factor from a file may be anything; beyond this no budget fits.
        let counted =
            if counted < float(u64::MAX) { format!("{:.0}", counted.ceil()) } else { String::new() };
        counted.parse().unwrap_or(u64::from(u32::MAX)) + self.overhead
    }
}

/// Chat formats differ by a few tokens for each message, which is much for a short prompt and nothing for a cut one.
const SLACK: f64 = 16.0;

/// Whether counts contradict what was sent. `truncated` says that the output limit or the window ended the answer.
pub(super) fn contradiction(
    expected: &TokenExpectation,
    answer: &Answer,
    truncated: bool,
) -> Option<(Verdict, String)> {
    let Usage { input, output, .. } = answer.usage;
    if let (Some(prompt), Some(reported)) = (expected.prompt, input) {
        let (sent, seen) = (float(prompt), float(reported));
        if seen + SLACK < sent * (1.0 - expected.tolerance) {
            let message = format!(
                "{prompt} prompt tokens were sent and {reported} were read: the provider cut the prompt"
            );
            return Some((Verdict::fail("prompt_truncated"), message));
        }
        if seen > sent * expected.factor + float(expected.overhead) {
            let message = format!(
                "counted {prompt} prompt tokens, the provider counts {reported}: more than the declared factor of {}",
                expected.factor
            );
            return Some((Verdict::fail("budget_unsafe"), message));
        }
    }
    let (window, total) = (expected.window?, answer.usage.sum()?);
    let room_left = match (expected.max_output, output) {
        (Some(limit), Some(used)) => used < limit,
        _ => true,
    };
    if truncated && room_left && total < window {
        let message = format!(
            "cut off at {total} tokens in all, below the output limit and the declared window of {window}"
        );
        return Some((Verdict::fail("window_smaller_than_declared"), message));
    }
    None
}

/// Token counts are far below 2⁵², where doubles stop being exact.
pub(crate) fn float(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
