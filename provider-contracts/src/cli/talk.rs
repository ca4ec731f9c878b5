//! Progress, as lines.

use std::sync::Mutex;
use std::time::Duration;

use crate::run::{Progress, SampleResult};
use crate::verdict::Stage;

/// Gathers what is to be said; the command writes it out. Samples are counted, and only a tenth of them is spoken of.
#[derive(Default)]
pub(super) struct Lines {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    lines: Vec<String>,
    total: u32,
    done: u32,
    passed: u32,
}

impl Lines {
    /// What was said since the last time.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().lines)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Progress for Lines {
    fn stage(&self, stage: Stage, calls: u32) {
        let mut held = self.lock();
        let what = match stage {
            Stage::Static => "static checks, no call",
            Stage::Canary => "canaries",
            Stage::Samples => "samples",
            Stage::Parity => "parity",
        };
        let calls = if calls == 0 { String::new() } else { format!(" ({calls} calls)") };
        held.lines.push(format!("{} {what}{calls}", stage.short()));
        (held.total, held.done, held.passed) = (calls_of(stage, &calls), 0, 0);
    }

    fn sample(&self, result: &SampleResult) {
        let mut state = self.lock();
        state.done += 1;
        state.passed += u32::from(result.judgement.verdict.is_pass());
        let step = (state.total / 10).max(1);
        if state.total > 0 && state.done.is_multiple_of(step) {
            let line = format!("   {}/{} done, {} passed", state.done, state.total, state.passed);
            state.lines.push(line);
        }
    }

    fn waiting(&self, wait: Duration, why: &str) {
        self.lock().lines.push(format!("   waiting {:.1} s: {why}", wait.as_secs_f64()));
    }
}

fn calls_of(stage: Stage, calls: &str) -> u32 {
    if stage != Stage::Samples {
        return 0;
    }
    calls.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
}
