//! The page of `onejob prove --target`.

use std::time::Duration;

use onejob_reports::sheet::{Sheet, Tone};

use crate::prove::KillMatrix;

/// Each lie and who noticed it; what nobody noticed stands first. `not_said` is what a reader might take the score for.
pub(in crate::cli) fn negations(matrix: &KillMatrix, not_said: &str) -> Sheet {
    let missed = matrix.survivors();
    let noticed = matrix.defects.len() - missed.len();
    let (tone, word) = match missed.len() {
        0 => (Tone::Good, "all noticed".to_owned()),
        n => (Tone::Bad, format!("{n} not noticed")),
    };
    let took = Duration::from_micros(matrix.duration_us).as_secs();
    let summary = format!("{noticed} of {} lies about this target are noticed.", matrix.defects.len());
    let mut sheet = Sheet::new("onejob prove --target", tone, word, summary)
        .fact("took", format!("{} min {:02} s", took / 60, took % 60))
        .fact("version", env!("CARGO_PKG_VERSION"))
        .section("What this does not mean", |section| section.prose(not_said.replace('\n', " ")));
    if !missed.is_empty() {
        sheet = sheet.section("What nobody noticed", |section| {
            let lies = matrix.defects.iter().filter(|lie| missed.contains(&lie.name.as_str()));
            lies.fold(section, |section, lie| section.warning(format!("`{}`: {}", lie.name, lie.story)))
        });
    }
    sheet = sheet.section("What was noticed", |section| {
        let lies = matrix.defects.iter().filter(|lie| !missed.contains(&lie.name.as_str()));
        lies.fold(section, |section, lie| {
            let witnesses = matrix.killers(&lie.name).join(", ");
            section.prose(format!("`{}`: {} Noticed by {witnesses}.", lie.name, lie.story))
        })
    });
    if matrix.left_out.is_empty() {
        return sheet;
    }
    sheet.section("Left out", |section| {
        matrix.left_out.iter().fold(section, |section, (name, why)| section.prose(format!("`{name}`: {why}")))
    })
}
