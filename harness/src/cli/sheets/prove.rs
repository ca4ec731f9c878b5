//! The kill matrix as a sheet.

use std::time::Duration;

use onejob_reports::sheet::{Grid, GridRow, Sheet, Square, Tone};

use crate::prove::{KillMatrix, Trial};

/// Rows are defects, columns are scenarios; what survived stands first.
pub(in crate::cli) fn kill_matrix(matrix: &KillMatrix) -> Sheet {
    let (survivors, idle) = (matrix.survivors(), matrix.idle());
    let dead = matrix.defects.len() - survivors.len();
    let took = Duration::from_micros(matrix.duration_us).as_secs();
    let (tone, word) = match survivors.len() {
        _ if matrix.defects.is_empty() => (Tone::Doubt, "nothing tried".to_owned()),
        0 => (Tone::Good, "all killed".to_owned()),
        1 => (Tone::Bad, "1 survivor".to_owned()),
        n => (Tone::Bad, format!("{n} survivors")),
    };
    let useful = matrix.scenarios.len() - idle.len();
    let summary = format!(
        "{dead} of {} defects are killed; {useful} of {} scenarios kill at least one.",
        matrix.defects.len(),
        matrix.scenarios.len()
    );
    let tried = if matrix.interrupted {
        "broken off: what is missing was not tried"
    } else if matrix.complete {
        "every pair"
    } else {
        "until each defect is dead and each scenario has killed"
    };
    let mut sheet = Sheet::new("onejob prove", tone, word, summary)
        .fact("tried", tried)
        .fact("took", format!("{} min {:02} s", took / 60, took % 60))
        .fact("version", env!("CARGO_PKG_VERSION"));
    if !survivors.is_empty() {
        sheet = sheet.section("What survived", |section| {
            survivors.iter().fold(section, |section, name| {
                let story = matrix.defects.iter().find(|defect| defect.name == *name);
                let story = story.map_or("", |defect| defect.story.as_str());
                section
                    .warning(format!("`{name}`: {story} No scenario noticed."))
                    .command(format!("onejob prove --all --defect {name}"))
            })
        });
    }
    sheet = sheet.section("Kill matrix", |section| {
        section
            .prose("✓ the scenario notices the defect, · it does not, ? it came to no verdict; empty: not tried.")
            .prose(
                "A pair is out of reach where, on the honest service, nothing came to a point at which the defect would \
                 have made a difference: it was not tried. A kill counts only where the honest service keeps the promise.",
            )
            .grid(grid(matrix))
    });
    if !idle.is_empty() {
        sheet = sheet.section("Scenarios that killed nothing", |section| {
            idle.iter().fold(section, |section, name| {
                section.warning(format!("`{name}` killed none of the defects that it was tried on."))
            })
        });
    }
    if matrix.left_out.is_empty() {
        return sheet;
    }
    sheet.section("Left out", |section| {
        matrix.left_out.iter().fold(section, |section, (name, why)| section.prose(format!("`{name}`: {why}")))
    })
}

fn grid(matrix: &KillMatrix) -> Grid {
    let grid =
        Grid::new("What each scenario makes of each defect", "defect", matrix.scenarios.iter().cloned());
    matrix.defects.iter().fold(grid, |grid, defect| {
        let trials = matrix.trials.get(&defect.name);
        let squares = matrix.scenarios.iter().map(|scenario| {
            let trial = trials.and_then(|trials| trials.get(scenario));
            trial.map(square).unwrap_or_default()
        });
        let killed = !matrix.killers(&defect.name).is_empty();
        grid.row(GridRow {
            name: defect.name.clone(),
            tone: if killed { Tone::Good } else { Tone::Bad },
            note: format!("{}. {}", defect.promise, defect.story),
            squares: squares.collect(),
        })
    })
}

fn square(trial: &Trial) -> Square {
    match trial {
        Trial::Killed { cell, promise, sentence } => {
            Square::new(Tone::Good, "killed", format!("`{promise}` broke in `{cell}`: {sentence}"))
        }
        Trial::Survived => Square::new(Tone::Plain, "not noticed", ""),
        Trial::NotReached => Square::new(Tone::Plain, "out of reach", ""),
        Trial::Unclear { why } => Square::new(Tone::Doubt, "no verdict", why.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::Culprit;

    #[test]
    fn what_survived_is_told_first_and_untried_pairs_stay_empty() {
        let mut matrix = KillMatrix { scenarios: vec!["s".into(), "t".into()], ..KillMatrix::default() };
        for name in ["dead", "alive"] {
            matrix.defects.push(Culprit {
                name: name.into(),
                promise: "p".into(),
                story: "It breaks.".into(),
            });
        }
        let killed = Trial::Killed { cell: "s".into(), promise: "p".into(), sentence: "It broke.".into() };
        matrix.trials.entry("dead".into()).or_default().insert("s".into(), killed);
        let alive = matrix.trials.entry("alive".into()).or_default();
        alive.insert("s".into(), Trial::Survived);
        alive.insert("t".into(), Trial::Unclear { why: "no witness".into() });
        let sheet = kill_matrix(&matrix);
        assert_eq!((sheet.tone, sheet.word.as_str()), (Tone::Bad, "1 survivor"));
        assert_eq!(sheet.sections[0].heading, "What survived");
        let grid = grid(&matrix);
        let words = |row: usize| grid.rows[row].squares.iter().map(|s| s.word.as_str()).collect::<Vec<_>>();
        assert_eq!(words(0), ["killed", ""]);
        assert_eq!(words(1), ["not noticed", "no verdict"]);
    }
}
