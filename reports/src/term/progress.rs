use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::text::plain;

/// The moving line at the bottom of a terminal; nothing at all elsewhere.
#[derive(Debug)]
pub(super) struct Bar {
    line: ProgressBar,
    running: Vec<String>,
    broken: usize,
}

impl Bar {
    pub(super) fn new(visible: bool) -> Self {
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self { line: ProgressBar::with_draw_target(None, target), running: Vec::new(), broken: 0 }
    }

    pub(super) fn start(&self, cells: usize) {
        // The template is a constant: were it malformed, the plain style is as good.
        let style = ProgressStyle::with_template("{bar:28} {pos}/{len} cells  {elapsed}  {wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        self.line.set_style(style.progress_chars("━╸─"));
        self.line.set_length(cells as u64);
    }

    pub(super) fn cell_started(&mut self, name: String) {
        self.running.push(name);
        self.say();
    }

    pub(super) fn cell_finished(&mut self, name: &str, good: bool) {
        if let Some(index) = self.running.iter().position(|running| running == name) {
            self.running.remove(index);
        }
        self.broken += usize::from(!good);
        self.line.inc(1);
        self.say();
    }

    fn say(&self) {
        let broken = if self.broken == 0 { String::new() } else { format!("{} not green  ", self.broken) };
        let now = match self.running.as_slice() {
            [] => String::new(),
            [only] => only.clone(),
            [.., last] => format!("{last} and {} more", self.running.len() - 1),
        };
        self.line.set_message(format!("{broken}{}", plain::one_line(&now)));
    }

    /// Writes without the bar in the way.
    pub(super) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.line.suspend(write)
    }

    pub(super) fn finish(&self) {
        self.line.finish_and_clear();
    }
}
