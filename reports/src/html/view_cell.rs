//! A cell as its template is given it.

use serde::Serialize;

use super::matrix::{outcome_class, outcome_symbol, verdict_class, verdict_symbol};
use crate::{
    headline::{broken, details, first_broken, headline},
    model::{Cell, Outcome, Verdict},
    text::{human, outcome_word, plain, verdict_word},
};

#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "a template can only ask, not compute")]
pub(super) struct CellView {
    pub(super) id: String,
    pub(super) scenario: String,
    pub(super) point: String,
    pub(super) title: String,
    pub(super) why: String,
    pub(super) class: &'static str,
    pub(super) symbol: char,
    pub(super) word: &'static str,
    pub(super) headline: String,
    pub(super) promise: Option<String>,
    pub(super) more_broken: usize,
    /// Whether what a green cell of a long run can do without is left out.
    pub(super) lean: bool,
    pub(super) failed: bool,
    pub(super) flaky: bool,
    pub(super) has_timeline: bool,
    pub(super) repeats: String,
    pub(super) gate: Option<String>,
    pub(super) took: String,
    pub(super) setup: String,
    pub(super) rounds: String,
    pub(super) source: String,
    pub(super) covers: String,
    pub(super) tags: String,
    /// The promises that held, which have nothing to say but their names.
    pub(super) held: Vec<String>,
    /// The others.
    pub(super) promises: Vec<PromiseView>,
    pub(super) witnesses: Vec<WitnessView>,
    pub(super) help: Option<String>,
    pub(super) code: Option<String>,
    pub(super) message: Option<String>,
    /// What a program printed before it ended.
    pub(super) said: Option<String>,
    pub(super) replay: String,
    pub(super) curl: String,
}

#[derive(Debug, Serialize)]
pub(super) struct PromiseView {
    pub(super) name: String,
    pub(super) class: &'static str,
    pub(super) symbol: &'static str,
    pub(super) word: &'static str,
    pub(super) sentence: String,
    pub(super) place: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct WitnessView {
    pub(super) name: String,
    pub(super) class: &'static str,
    pub(super) symbol: &'static str,
    pub(super) word: &'static str,
    pub(super) detail: String,
    pub(super) rounds: String,
}

pub(super) fn cell(cell: &Cell, id: &str, lean: bool) -> CellView {
    let place = |line: u32| shown(&format!("{}:{line}", cell.source.file));
    let repeats: Vec<String> =
        cell.repeats.iter().map(|verdict| verdict_word(*verdict).to_lowercase()).collect();
    CellView {
        id: id.to_owned(),
        scenario: shown(&cell.scenario),
        point: shown(&cell.point()),
        title: shown(&cell.title),
        why: shown(&cell.why),
        class: verdict_class(cell.verdict),
        symbol: verdict_symbol(cell.verdict),
        word: if cell.verdict == Verdict::Fail { "fail" } else { verdict_word(cell.verdict) },
        headline: shown(&headline(cell)),
        promise: first_broken(cell).map(|promise| shown(&promise.name)),
        more_broken: broken(cell).count().saturating_sub(1),
        lean: lean && is_green(cell),
        failed: cell.verdict == Verdict::Fail,
        flaky: cell.flaky,
        has_timeline: !cell.timeline.is_empty(),
        repeats: repeats.join(", "),
        gate: cell.gate.as_deref().map(shown),
        took: if cell.duration_us == 0 { String::new() } else { human::duration(cell.duration_us) },
        setup: human::duration(cell.setup_us),
        rounds: if cell.rounds == 0 {
            String::new()
        } else {
            human::count(usize::try_from(cell.rounds).unwrap_or(usize::MAX), "round")
        },
        source: place(first_broken(cell).and_then(|promise| promise.line).unwrap_or(cell.source.line)),
        covers: shown(&cell.covers.join(" ")),
        tags: shown(&cell.tags.join(" ")),
        held: cell
            .promises
            .iter()
            .filter(|promise| promise.outcome == Outcome::Held)
            .map(|promise| shown(&promise.name))
            .collect(),
        promises: cell
            .promises
            .iter()
            .filter(|promise| promise.outcome != Outcome::Held)
            .map(|promise| PromiseView {
                name: shown(&promise.name),
                class: outcome_class(promise.outcome),
                symbol: outcome_symbol(promise.outcome),
                word: outcome_word(promise.outcome),
                sentence: shown(&promise.sentence),
                place: promise.line.map(place),
            })
            .collect(),
        witnesses: cell
            .witnesses
            .iter()
            .map(|witness| WitnessView {
                name: shown(&witness.name),
                class: if witness.seen { "pass" } else { "inconclusive" },
                symbol: if witness.seen { "✓" } else { "?" },
                word: if witness.seen { "seen" } else { "not seen" },
                detail: shown(&witness.detail),
                rounds: if witness.seen && cell.rounds > 1 {
                    format!("{} of {} rounds", witness.rounds_seen, cell.rounds)
                } else {
                    String::new()
                },
            })
            .collect(),
        help: cell.error.as_ref().map(|error| shown(&error.help)),
        code: cell.error.as_ref().map(|error| shown(&error.code)),
        message: cell.error.as_ref().map(|error| shown(error.message.lines().next().unwrap_or_default())),
        said: cell.error.as_ref().map(|error| {
            let said: Vec<&str> = details(error).collect();
            plain::lines(&said.join("\n")).into_owned()
        }),
        replay: shown(&cell.replay),
        curl: plain::lines(&cell.curl.join("\n")).into_owned(),
    }
}

pub(super) fn is_green(cell: &Cell) -> bool {
    matches!(cell.verdict, Verdict::Pass | Verdict::Skipped)
}

pub(super) fn shown(text: &str) -> String {
    plain::one_line(text).into_owned()
}
