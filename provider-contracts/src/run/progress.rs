//! Who wants to know how far a check has come.

use super::SampleResult;
use crate::verdict::Stage;

/// Hears of each step. Called from several tasks.
pub trait Progress: Send + Sync {
    /// A stage begins; `calls` is how many it takes.
    fn stage(&self, stage: Stage, calls: u32) {
        let _ = (stage, calls);
    }

    /// A sample is done.
    fn sample(&self, result: &SampleResult) {
        let _ = result;
    }

    /// Everything waits for the provider.
    fn waiting(&self, wait: std::time::Duration, why: &str) {
        let _ = (wait, why);
    }
}

/// Nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}
