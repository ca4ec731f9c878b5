//! What a benchmark says while it goes on.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{
    bench::Standing,
    cli::{args::Global, common::term_options},
};

/// Between two lines where no bar can move.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// A bar on a terminal, a line now and then elsewhere, nothing when silence was asked for.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    told: Instant,
}

impl Progress {
    pub(super) fn new(global: &Global) -> Self {
        let visible = term_options(global, &std::io::stderr()).is_terminal && !global.quiet;
        let bar = visible.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            // The template is a constant: were it malformed, the plain style is as good.
            let style = ProgressStyle::with_template("{bar:28} {pos}/{len} blocks  {elapsed}  {wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style.progress_chars("━╸─"));
            bar
        });
        Self { bar, quiet: global.quiet, told: Instant::now() }
    }

    pub(super) fn tell(&mut self, standing: &Standing) {
        let Standing { repeat, done, all, now } = standing;
        if let Some(bar) = &self.bar {
            bar.set_length(*all as u64);
            bar.set_position(*done as u64);
            bar.set_message(format!("repeat {repeat}: {now}"));
        } else if !self.quiet && (*done == 0 || self.told.elapsed() >= TELL_EVERY) {
            self.told = Instant::now();
            eprintln!("{done} of {all} blocks measured; repeat {repeat}: {now}");
        }
    }

    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
