//! What reports cost: every format of a run of 500 cells, and a run of a million moments as it is streamed.
//!
//!     cargo run --release -p onejob-reports --example sizes
//!
//! Fails where a promise is missed: 2 s for all formats, a megabyte of HTML, 200 MB of memory.

use std::{
    io::{self, BufWriter},
    time::{Duration, Instant},
};

use onejob_reports::{
    Format,
    json::{Head, NdjsonWriter},
    model::{Cell, Moment, Progress, RunReport},
    render,
    term::{TermOptions, Terminal},
};

#[path = "../tests/it/fixtures.rs"]
#[expect(dead_code, reason = "shared with the tests")]
mod fixtures;

fn main() -> io::Result<()> {
    let streamed = stream()?;
    let peak = peak_kb();
    println!("a million moments streamed: {streamed:.2?}, peak memory {} MB", peak / 1_000);
    let run = fixtures::suite(500);
    let mut all = Duration::ZERO;
    let mut html = 0;
    for format in Format::ALL {
        let mut page = Vec::new();
        let began = Instant::now();
        render(&run, format, &mut page).map_err(io::Error::other)?;
        let took = began.elapsed();
        all += took;
        println!("{:<12} {:>9} bytes {took:>10.2?}", format.name(), page.len());
        if format == Format::Html {
            html = page.len();
        }
    }
    println!("500 cells in all formats: {all:.2?}");
    let missed = [
        (all > Duration::from_secs(2), "2 s for all formats"),
        (html > 1_000_000, "a megabyte of HTML"),
        (peak > 200_000, "200 MB of memory"),
    ];
    match missed.iter().find(|(missed, _)| *missed) {
        Some((_, promise)) => Err(io::Error::other(format!("missed: {promise}"))),
        None => Ok(()),
    }
}

/// Cells one after the other, as a run hands them over: the lines of the report and the terminal's, to nowhere.
fn stream() -> io::Result<Duration> {
    let began = Instant::now();
    let sample = fixtures::suite(8);
    let longest: Vec<Cell> = sample.cells.iter().map(lengthened).collect();
    let frame = RunReport { cells: Vec::new(), planned: 2_500, ..sample };
    let mut lines = NdjsonWriter::begin(BufWriter::new(io::sink()), Head::of(&frame))?;
    let mut terminal = Terminal::new(TermOptions::default(), BufWriter::new(io::sink()));
    for index in 0..frame.planned {
        let cell = Box::new(longest[index % longest.len()].clone());
        lines.cell(&cell)?;
        terminal.on(&Progress::CellFinished { cell })?;
    }
    lines.end(1, false, Vec::new())?;
    Ok(began.elapsed())
}

/// The cell with a timeline of 400 moments, the most that one has.
fn lengthened(cell: &Cell) -> Cell {
    let count = cell.timeline.len() as u64;
    let timeline = (0..400u64).map(|n| {
        let moment = &cell.timeline[usize::try_from(n % count).unwrap_or(0)];
        Moment { id: n, at_us: moment.at_us + n * 1_000, ..moment.clone() }
    });
    Cell { timeline: timeline.collect(), ..cell.clone() }
}

/// The most memory that this process has had, in kilobytes; 0 where the system doesn't say.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
