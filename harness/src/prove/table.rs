//! The kill matrix for a terminal. Pure.

use std::fmt::Write as _;

use super::{KillMatrix, Trial};

/// The matrix in lines of at most `width` columns: each defect with those that kill it, then what is wrong, then, where
/// every pair was tried, who kills what.
#[must_use]
pub fn table(matrix: &KillMatrix, width: usize) -> String {
    let mut out = String::new();
    let longest = matrix.defects.iter().map(|defect| defect.name.len()).max().unwrap_or(0);
    for defect in &matrix.defects {
        let killers = matrix.killers(&defect.name);
        let word = if killers.is_empty() { "SURVIVED" } else { "killed" };
        wrapped(&mut out, &format!("{word:<9} {:longest$}  ", defect.name), &defect.promise, width);
        let indent = " ".repeat(longest + 12);
        if killers.is_empty() {
            wrapped(&mut out, &format!("{indent}stands for: "), &defect.story, width);
        } else {
            wrapped(&mut out, &format!("{indent}by "), &killers.join(", "), width);
        }
    }
    for (scenario, why) in &matrix.left_out {
        wrapped(&mut out, "left out  ", &format!("{scenario}: {why}"), width);
    }
    for scenario in matrix.idle() {
        wrapped(&mut out, "idle      ", &format!("{scenario} kills no defect: it proves nothing"), width);
    }
    if matrix.complete {
        grid(&mut out, matrix, longest, width);
    }
    wrapped(&mut out, "", &matrix.summary(), width);
    out
}

/// A symbol for each pair, in blocks of as many scenarios as fit, under the scenarios' numbers.
fn grid(out: &mut String, matrix: &KillMatrix, longest: usize, width: usize) {
    let columns = width.saturating_sub(longest + 2).max(10);
    for (block, scenarios) in matrix.scenarios.chunks(columns).enumerate() {
        let first = block * columns + 1;
        out.push('\n');
        for digit in [100, 10, 1] {
            let digits = (first..first + scenarios.len()).map(|number| match number / digit {
                0 => ' ',
                high => char::from_digit(u32::try_from(high % 10).unwrap_or(0), 10).unwrap_or(' '),
            });
            let digits: String = digits.collect();
            if !digits.trim().is_empty() {
                let _ = writeln!(out, "{:longest$}  {digits}", "");
            }
        }
        for defect in &matrix.defects {
            let trials = matrix.trials.get(&defect.name);
            let symbols: String = scenarios
                .iter()
                .map(|scenario| symbol(trials.and_then(|trials| trials.get(scenario))))
                .collect();
            let _ = writeln!(out, "{:longest$}  {symbols}", defect.name);
        }
    }
    out.push('\n');
    let names = matrix.scenarios.iter().enumerate();
    let names: Vec<String> = names.map(|(index, name)| format!("{} {name}", index + 1)).collect();
    wrapped(out, "", &names.join(", "), width);
    wrapped(out, "", "x killed, o survived, · out of reach (not tried), ? no verdict", width);
    out.push('\n');
}

fn symbol(trial: Option<&Trial>) -> char {
    match trial {
        Some(Trial::Killed { .. }) => 'x',
        Some(Trial::Survived) => 'o',
        Some(Trial::NotReached) => '·',
        Some(Trial::Unclear { .. }) => '?',
        None => ' ',
    }
}

/// Writes a text behind a head, broken at spaces, with its further lines below its first.
fn wrapped(out: &mut String, head: &str, text: &str, width: usize) {
    let indent = head.chars().count();
    let room = width.saturating_sub(indent).max(12);
    let mut line = String::new();
    let mut first = true;
    let mut end = |line: &mut String| {
        let _ = if first { writeln!(out, "{head}{line}") } else { writeln!(out, "{:indent$}{line}", "") };
        first = false;
        line.clear();
    };
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > room {
            end(&mut line);
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    end(&mut line);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::Culprit;

    fn matrix(scenarios: usize) -> KillMatrix {
        let mut matrix = KillMatrix {
            scenarios: (1..=scenarios).map(|number| format!("scenario-{number}")).collect(),
            complete: true,
            ..KillMatrix::default()
        };
        for (name, trial) in [
            (
                "doubles-everything",
                Trial::Killed { cell: "c".into(), promise: "one-job".into(), sentence: "Two.".into() },
            ),
            ("hides", Trial::Survived),
        ] {
            matrix.defects.push(Culprit {
                name: name.into(),
                promise: "the same intent gets the same job".into(),
                story: "Does what it likes, and nobody sees it.".into(),
            });
            let trials = matrix.scenarios.iter().map(|scenario| (scenario.clone(), trial.clone()));
            matrix.trials.insert(name.into(), trials.collect());
        }
        matrix
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in [60, 80, 120] {
            let text = table(&matrix(130), width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
        }
    }

    #[test]
    fn survivors_are_told_with_what_they_stand_for() {
        let text = table(&matrix(2), 100);
        assert!(text.contains("SURVIVED") && text.contains("stands for: Does what it likes"), "{text}");
        assert!(text.contains("doubles-everything  xx") && text.contains("hides               oo"), "{text}");
    }

    #[test]
    fn columns_are_numbered_from_top_to_bottom() {
        let text = table(&matrix(12), 100);
        assert!(text.contains("         111\n") && text.contains("123456789012\n"), "{text}");
    }
}
