//! What the templates are given: texts that are ready to be shown.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{
    matrix::{Matrix, matrix, verdict_class, verdict_symbol},
    view_cell::{CellView, cell, is_green, shown},
};
use crate::{
    headline::{first_broken, headline},
    model::{Cell, RunReport, Verdict},
    tally::{Tally, run_word, shortfall, slowest},
    text::{human, verdict_word},
};

#[derive(Debug, Serialize)]
pub(super) struct PageView {
    pub(super) word: String,
    pub(super) class: &'static str,
    pub(super) words: String,
    pub(super) target: String,
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) widens: Vec<String>,
    pub(super) shortfall: Option<String>,
    pub(super) shares: Vec<Share>,
    pub(super) troubles: Vec<Trouble>,
    pub(super) matrix: Matrix,
    pub(super) slowest: Vec<Slow>,
    pub(super) spent: String,
    pub(super) setup: String,
    pub(super) total: usize,
    pub(super) run: String,
    pub(super) version: String,
}

/// What went wrong, with every cell in which it did so in the same words.
#[derive(Debug, Serialize)]
pub(super) struct Trouble {
    pub(super) cell: CellView,
    /// Id and name of each further cell.
    pub(super) others: Vec<(String, String)>,
}

/// The cells of one verdict: a part of the bar at the top, and a switch of the filter.
#[derive(Debug, Serialize)]
pub(super) struct Share {
    pub(super) class: &'static str,
    pub(super) word: &'static str,
    pub(super) symbol: char,
    pub(super) count: usize,
    /// From where to where on a bar of 1000.
    pub(super) from: usize,
    pub(super) width: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct Slow {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) took: String,
    pub(super) setup: String,
    /// Of 400.
    pub(super) setup_width: u64,
    pub(super) width: u64,
}

/// An id for each cell, made of its name, so that a link into the page of yesterday's run fits today's too.
pub(super) fn ids(report: &RunReport) -> Vec<String> {
    let mut taken = BTreeSet::new();
    report
        .cells
        .iter()
        .map(|cell| {
            let mut id = slug(&cell.name());
            while !taken.insert(id.clone()) {
                id.push('x');
            }
            id
        })
        .collect()
}

fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    format!("cell-{}", slug.trim_matches('-'))
}

pub(super) fn page(report: &RunReport, ids: &[String]) -> PageView {
    let tally = Tally::of(report);
    let word = run_word(report);
    PageView {
        word: word.to_lowercase(),
        class: match word {
            "pass" => "pass",
            "FAIL" => "fail",
            "error" => "error",
            _ => "inconclusive",
        },
        words: tally.words(),
        target: shown(&report.target),
        facts: facts(report, &tally),
        widens: report.profile.widens.iter().map(|widens| shown(widens)).collect(),
        shortfall: shortfall(report).map(|text| shown(&text)),
        shares: shares(&tally),
        troubles: troubles(report, ids),
        matrix: matrix(report, ids),
        slowest: slow(report, ids),
        spent: human::duration(tally.spent_us),
        setup: human::duration(tally.setup_us),
        total: report.cells.len(),
        run: shown(&report.run_id),
        version: shown(&report.tool_version),
    }
}

/// What isn't green, the worst first.
fn troubles(report: &RunReport, ids: &[String]) -> Vec<Trouble> {
    let mut red: Vec<(&Cell, &String)> =
        report.cells.iter().zip(ids).filter(|(cell, _)| !is_green(cell)).collect();
    red.sort_by_key(|(cell, _)| std::cmp::Reverse(cell.verdict));
    let mut troubles: Vec<Trouble> = Vec::new();
    let mut places: BTreeMap<(&'static str, Option<&str>, String), usize> = BTreeMap::new();
    for (cell, id) in red {
        let same = (verdict_class(cell.verdict), first_broken(cell).map(|p| p.name.as_str()), headline(cell));
        if let Some(&place) = places.get(&same) {
            troubles[place].others.push((id.clone(), shown(&cell.name())));
        } else {
            places.insert(same, troubles.len());
            troubles.push(Trouble { cell: self::cell(cell, id, false), others: Vec::new() });
        }
    }
    troubles
}

fn facts(report: &RunReport, tally: &Tally) -> Vec<(&'static str, String)> {
    let shard = report.shard.map(|shard| format!("{} of {}", shard.index, shard.of));
    let facts = [
        ("target", Some(report.target.clone())),
        ("profile", Some(report.profile.name.clone())),
        ("database", report.database.clone()),
        ("defects", (!report.defects.is_empty()).then(|| report.defects.join(", "))),
        ("gates", tally.gate_words()),
        ("sweeps", tally.sweeps.map(|sweeps| sweeps.words())),
        ("took", Some(human::duration(report.duration_us))),
        ("started", Some(started(&report.started_at))),
        ("seed", Some(report.seed.to_string())),
        ("shard", shard),
    ];
    facts.into_iter().filter_map(|(name, value)| value.map(|value| (name, shown(&value)))).collect()
}

/// The start to the second, or as it was written where that can't be read.
fn started(text: &str) -> String {
    let time = DateTime::parse_from_rfc3339(text).map(|time| time.with_timezone(&Utc));
    time.map_or_else(|_| text.to_owned(), |time| time.format("%Y-%m-%d %H:%M:%S UTC").to_string())
}

fn shares(tally: &Tally) -> Vec<Share> {
    let all = [
        (Verdict::Fail, tally.failed),
        (Verdict::Error, tally.errors),
        (Verdict::Inconclusive, tally.inconclusive),
        (Verdict::Pass, tally.passed),
        (Verdict::Skipped, tally.skipped),
    ];
    let total = tally.judged().max(1);
    let mut done = 0;
    all.into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(verdict, count)| {
            let from = done * 1000 / total;
            done += count;
            Share {
                class: verdict_class(verdict),
                word: if verdict == Verdict::Fail { "fail" } else { verdict_word(verdict) },
                symbol: verdict_symbol(verdict),
                count,
                from,
                width: (done * 1000 / total - from).max(4),
            }
        })
        .collect()
}

fn slow(report: &RunReport, ids: &[String]) -> Vec<Slow> {
    let slowest = slowest(report, 8);
    let longest = slowest.first().map_or(1, |cell| cell.duration_us.max(1));
    slowest
        .into_iter()
        .map(|cell| {
            let place = report.cells.iter().position(|other| std::ptr::eq(other, cell));
            let setup = cell.setup_us.min(cell.duration_us);
            Slow {
                id: place.and_then(|place| ids.get(place)).cloned().unwrap_or_default(),
                name: shown(&cell.name()),
                took: human::duration(cell.duration_us),
                setup: human::duration(setup),
                setup_width: setup * 400 / longest,
                width: (cell.duration_us - setup) * 400 / longest,
            }
        })
        .collect()
}
