//! The page of an exploration.

use std::collections::BTreeSet;

use super::{ExploreReport, Failure, Map};
use crate::{
    sheet::{Entry, Grid, GridRow, Section, Sheet, Square, Table, Tone},
    text::human::{count, duration},
};

/// The page of an exploration: what broke first, then what was reached and what never was.
#[must_use]
pub fn sheet(report: &ExploreReport) -> Sheet {
    let (tone, word) = verdict(report);
    let mut sheet = Sheet::new("onejob explore", tone, word, summary(report));
    let facts = [
        ("target", Some(report.target.clone())),
        ("defects", (!report.defects.is_empty()).then(|| report.defects.join(", "))),
        ("database", report.database.clone()),
        ("seed", Some(report.seed.to_string())),
        ("began", Some(report.started_at.clone())),
        ("took", Some(duration(report.duration_us))),
        ("version", Some(report.tool_version.clone())),
    ];
    for (name, value) in facts {
        sheet = value.into_iter().fold(sheet, |sheet, value| sheet.fact(name, value));
    }
    for found in report.failures() {
        sheet = sheet.section(format!("Plan {} broke `{}`", found.plan, found.promise), |section| {
            failure(section, found)
        });
    }
    if !report.faults.is_empty() {
        sheet = sheet.section("Plans that could not be played", |section| {
            report.faults.iter().fold(section, |section, fault| {
                section.warning(format!("Plan {}: `{}` {}", fault.plan, fault.code, fault.message))
            })
        });
    }
    sheet = sheet.section("What was reached: jobs", |section| map(section, "job", &report.coverage.jobs));
    sheet = sheet.section("What was reached: attempts", |section| {
        if report.coverage.attempts.reached.is_empty() {
            return section.prose("The target's log tells of no attempts.");
        }
        map(section, "attempt", &report.coverage.attempts)
    });
    sheet.section("The same plans again", |section| {
        section
            .prose(format!(
                "A seed gives the same plans on every machine. The digest of its first {} is `{}`; with another digest this is \
                 another version, and it plays others.",
                report.digested, report.digest
            ))
            .command(&report.command)
    })
}

fn verdict(report: &ExploreReport) -> (Tone, String) {
    match report.failures().count() {
        0 if report.interrupted => (Tone::Doubt, "interrupted".to_owned()),
        0 if report.played == 0 => (Tone::Doubt, "nothing played".to_owned()),
        0 if !report.faults.is_empty() => (Tone::Doubt, "not all could be played".to_owned()),
        0 => (Tone::Good, "nothing broke".to_owned()),
        n => (Tone::Bad, count(n, "failure")),
    }
}

fn summary(report: &ExploreReport) -> String {
    let broke: BTreeSet<String> = report.failures().map(|failure| format!("`{}`", failure.promise)).collect();
    let broke: Vec<String> = broke.into_iter().collect();
    let mut said = format!(
        "{} from seed {}",
        count(usize::try_from(report.played).unwrap_or(usize::MAX), "plan"),
        report.seed
    );
    if report.unclear > 0 {
        said =
            format!("{said}, {} of them unclear: something that was waited for never came", report.unclear);
    }
    if broke.is_empty() { format!("{said}.") } else { format!("{said}. Broken: {}.", broke.join(", ")) }
}

fn failure(section: Section, failure: &Failure) -> Section {
    let section = section
        .warning(&failure.sentence)
        .prose(format!(
            "{}, shrunk from {} by trying {} smaller plans. One round of it failed in {} of {} trials; the scenario plays {}.",
            count(failure.steps, "step"),
            failure.steps_before,
            failure.tried,
            failure.failed,
            failure.trials,
            count(failure.rounds as usize, "round"),
        ))
        .command(&failure.replay);
    let heading = match &failure.file {
        Some(file) => format!("The steps, as they stand in {file}"),
        None => "The steps".to_owned(),
    };
    section.fold(heading, |section| section.command(failure.scenario.trim_end()))
}

/// A row for each event, a column for each state.
fn map(section: Section, what: &str, map: &Map) -> Section {
    let (reached, all) = map.share();
    let caption = format!("{reached} of {all} pairs of an event and the state that it met were reached");
    let grid =
        map.events.iter().fold(Grid::new(caption, "event", map.states.iter().cloned()), |grid, event| {
            let met = map.states.iter().filter(|state| map.count(state, event) > 0).count();
            let squares = map.states.iter().map(|state| match map.count(state, event) {
                0 => Square::new(Tone::Plain, "never reached", ""),
                1 => Square::new(Tone::Good, "reached", format!("once in state `{state}`")),
                times => Square::new(Tone::Good, "reached", format!("{times} times in state `{state}`")),
            });
            grid.row(GridRow {
                name: event.clone(),
                tone: if met == 0 { Tone::Doubt } else { Tone::Good },
                note: format!("`{event}` met the {what} in {met} of {} states.", map.states.len()),
                squares: squares.collect(),
            })
        });
    section
        .prose(format!(
            "✓ the event met the {what} in that state, · it never did. Not every pair can happen: this is what the plans reached, \
             and no score."
        ))
        .grid(grid)
        .fold("What was never reached", |section| section.table(never(map)))
}

fn never(map: &Map) -> Table {
    let table = Table::new("Pairs that no plan reached", ["event", "states that it never met", "of"]);
    map.events.iter().fold(table, |table, event| {
        let missing: Vec<&str> =
            map.states.iter().filter(|state| map.count(state, event) == 0).map(String::as_str).collect();
        if missing.is_empty() {
            return table;
        }
        table.row([
            Entry::from(event.as_str()),
            missing.join(", ").into(),
            map.states.len().to_string().into(),
        ])
    })
}
