use std::io::{self, Write};

use super::{
    TermOptions, Volume, cell, failure,
    paint::{Paint, Tone},
    progress::Bar,
    summary,
};
use crate::{
    model::{Cell, Progress, RunReport, Verdict},
    text::{cell_name, human, plain},
};

/// Failures after this many get two lines instead of a screen: the fifth screen in a row is no longer read.
const SCREENS: usize = 4;

/// Listens to a run and writes what a person wants to know of it.
///
/// Lines go to the writer. The moving progress bar goes to standard error, and only where
/// [`TermOptions::is_terminal`] says that somebody watches.
#[derive(Debug)]
pub struct Terminal<W> {
    options: TermOptions,
    out: W,
    bar: Bar,
    screens: usize,
}

impl<W: Write> Terminal<W> {
    /// A listener that writes to `out`.
    pub fn new(options: TermOptions, out: W) -> Self {
        let bar = Bar::new(options.is_terminal && options.volume > Volume::Quiet);
        Self { options, out, bar, screens: 0 }
    }

    /// Takes one step of the run.
    ///
    /// Fails only if the writer does.
    pub fn on(&mut self, progress: &Progress) -> io::Result<()> {
        match progress {
            Progress::RunStarted { target, database, cells } => {
                self.bar.start(*cells);
                self.opening(target, database.as_deref(), *cells)
            }
            Progress::CellStarted { scenario, at } => {
                self.bar.cell_started(cell_name(scenario, at));
                Ok(())
            }
            Progress::CellFinished { cell } => self.cell_finished(cell),
            Progress::RunFinished { report } => self.run_finished(report),
        }
    }

    fn cell_finished(&mut self, cell: &Cell) -> io::Result<()> {
        self.bar.cell_finished(&cell.name(), is_good(cell));
        let lines = self.cell(cell);
        self.write(&lines)
    }

    fn run_finished(&mut self, report: &RunReport) -> io::Result<()> {
        self.bar.finish();
        let lines = summary::lines(report, self.options.width, self.options.volume, self.paint());
        self.write(&lines)?;
        self.out.flush()
    }

    /// The writer, for whoever wants it back.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn paint(&self) -> Paint {
        Paint { color: self.options.color, links: self.options.links }
    }

    fn opening(&mut self, target: &str, database: Option<&str>, cells: usize) -> io::Result<()> {
        if self.options.volume == Volume::Quiet {
            return Ok(());
        }
        let database =
            database.map(|database| format!(" on {}", plain::one_line(database))).unwrap_or_default();
        let text = format!("{} against {}{database}", human::count(cells, "cell"), plain::one_line(target));
        let line = self.paint().text(Tone::Faint, &plain::fit(&text, self.options.width));
        self.write(&[line])
    }

    fn cell(&mut self, cell: &Cell) -> Vec<String> {
        let TermOptions { width, volume, .. } = self.options;
        let paint = self.paint();
        let good = is_good(cell);
        if good && volume == Volume::Quiet && !cell.flaky {
            return Vec::new();
        }
        let verbose = volume == Volume::Verbose;
        let mut lines = Vec::new();
        let screen = !good && (verbose || self.screens < SCREENS);
        if screen {
            lines.push(String::new());
        }
        lines.push(cell::line(cell, width, screen, paint));
        if screen {
            self.screens += 1;
            lines.extend(failure::screen(cell, width, verbose, paint));
            lines.push(String::new());
        } else if !good {
            lines.push(format!("              {}", plain::one_line(&cell.replay)));
        }
        if verbose {
            lines.extend(cell::details(cell, width, paint));
        }
        lines
    }

    fn write(&mut self, lines: &[String]) -> io::Result<()> {
        let Self { bar, out, .. } = self;
        bar.aside(|| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
    }
}

/// Writes a finished report as the listener would have.
pub fn render(report: &RunReport, options: TermOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut terminal = Terminal::new(TermOptions { is_terminal: false, ..options }, out);
    terminal.opening(&report.target, report.database.as_deref(), report.planned)?;
    report.cells.iter().try_for_each(|cell| terminal.cell_finished(cell))?;
    terminal.run_finished(report)
}

fn is_good(cell: &Cell) -> bool {
    matches!(cell.verdict, Verdict::Pass | Verdict::Skipped)
}
