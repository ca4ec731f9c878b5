use std::io::{self, Write};

use crate::{
    headline::{broken, headline, sentence_of},
    model::{Cell, RunReport, Verdict},
    tally::shortfall,
    text::plain,
};

/// GitHub shows ten errors and ten warnings of a step and drops the rest without a word; the tenth says how many more
/// there are.
const SHOWN: usize = 10;

struct Annotation {
    file: Option<(String, u32)>,
    title: String,
    message: String,
}

/// Writes an `::error` for each broken promise and each error, a `::warning` for what is inconclusive, flaky or missing, and
/// a `::notice` for what was not verified.
///
/// An annotation points to the line in the scenario file that asked for the promise. A scenario that is embedded in onejob
/// has no file in the user's repository, so its annotation stands without one.
pub fn render(report: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    let (mut errors, mut warnings, mut notices) = (Vec::new(), Vec::new(), Vec::new());
    for cell in &report.cells {
        match cell.verdict {
            Verdict::Fail => errors.extend(broken_promises(cell)),
            Verdict::Error => errors.push(of_cell(cell, "error")),
            Verdict::Inconclusive => warnings.push(of_cell(cell, "inconclusive")),
            Verdict::Skipped => notices.push(of_cell(cell, "not verified")),
            Verdict::Pass => {}
        }
        if cell.flaky {
            let message = format!("the verdict differed between {} repeats", cell.repeats.len());
            warnings.push(Annotation { message, ..of_cell(cell, "flaky") });
        }
    }
    if let Some(message) = shortfall(report) {
        errors.insert(0, Annotation { file: None, title: "onejob: incomplete run".to_owned(), message });
    }
    if report.cells.is_empty() && errors.is_empty() {
        let message = "nothing was selected, so nothing is proven".to_owned();
        warnings.push(Annotation { file: None, title: "onejob: nothing verified".to_owned(), message });
    }
    commands("error", errors, out)?;
    commands("warning", warnings, out)?;
    commands("notice", notices, out)
}

fn broken_promises(cell: &Cell) -> Vec<Annotation> {
    let promises: Vec<Annotation> = broken(cell)
        .map(|promise| Annotation {
            file: place(cell, promise.line),
            title: format!("{} broke {}", cell.name(), promise.name),
            message: format!("{}\nagain: {}", sentence_of(promise), cell.replay),
        })
        .collect();
    if promises.is_empty() { vec![of_cell(cell, "a promise broke")] } else { promises }
}

fn of_cell(cell: &Cell, what: &str) -> Annotation {
    Annotation {
        file: place(cell, None),
        title: format!("{}: {what}", cell.name()),
        message: format!("{}\nagain: {}", headline(cell), cell.replay),
    }
}

fn place(cell: &Cell, line: Option<u32>) -> Option<(String, u32)> {
    let file = &cell.source.file;
    (!file.starts_with("embedded:")).then(|| (file.clone(), line.unwrap_or(cell.source.line)))
}

fn commands(kind: &str, annotations: Vec<Annotation>, out: &mut dyn Write) -> io::Result<()> {
    let total = annotations.len();
    let shown = if total > SHOWN { SHOWN - 1 } else { total };
    for Annotation { file, title, message } in annotations.into_iter().take(shown) {
        let place =
            file.map(|(file, line)| format!("file={},line={line},", property(&file))).unwrap_or_default();
        writeln!(out, "::{kind} {place}title={}::{}", property(&title), data(&message))?;
    }
    if shown < total {
        let more = total - shown;
        writeln!(
            out,
            "::{kind} title=onejob::and {more} more of this kind; the other reports list them all"
        )?;
    }
    Ok(())
}

/// The escapes of a command's message. The percent sign goes first, or it would escape the escapes.
fn data(text: &str) -> String {
    plain::lines(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The escapes of a command's property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
