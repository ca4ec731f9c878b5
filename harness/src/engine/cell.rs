//! One cell: its world, its rounds, and what the laws make of them.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use onejob_reports::model::{Cell, CellError, Source, Verdict, Witness};

use super::{
    fresh::Fresh,
    plan::PlannedCell,
    report,
    round::Round,
    sweep,
    world::{Grounds, World},
};
use crate::{
    fail::Fault,
    history::{Event, Kind, Recorder},
    law::{self, CellJudgement, Seen, View},
};

/// A cell that was played: its history, and what is known without it.
#[derive(Debug)]
pub struct Played {
    /// The cell.
    pub planned: PlannedCell,
    /// Its history, as far as it got.
    pub events: Vec<Event>,
    /// What broke, where something did.
    pub fault: Option<Fault>,
    /// Wall time in microseconds.
    pub duration_us: u64,
    /// Set-up and tear-down within it.
    pub setup_us: u64,
}

/// Plays a cell. Never fails: what breaks is in what it returns.
pub async fn play(grounds: &Grounds, planned: PlannedCell) -> Played {
    let began = Instant::now();
    let scenario = &planned.loaded.scenario;
    let least = if scenario.setup.balancer.is_some() { 2 } else { 1 };
    let replicas = scenario.step.iter().filter_map(|step| step.with.replica).max().unwrap_or(1).max(least);
    let world = match World::build(grounds, scenario, replicas as usize).await {
        Ok(world) => world,
        Err(fault) => {
            let duration_us = micros(began);
            return Played {
                planned,
                events: Vec::new(),
                fault: Some(fault),
                duration_us,
                setup_us: duration_us,
            };
        }
    };
    let built = micros(began);
    // The history outlives a cell that is dropped in the middle; the guard takes the world down even then.
    let fault = rounds(grounds, &planned, &world).await.err();
    let ending = Instant::now();
    world.end().await;
    let setup_us = built + micros(ending);
    let events = world.recorder.events();
    Played { planned, events, fault, duration_us: micros(began), setup_us }
}

async fn rounds(grounds: &Grounds, planned: &PlannedCell, world: &Arc<World>) -> Result<(), Fault> {
    let scenario = &planned.loaded.scenario;
    world.recorder.record(
        0,
        Kind::CellStarted {
            scenario: scenario.id.clone(),
            cell: planned.loaded.at.clone(),
            wall_us: Recorder::wall_us(&world.recorder),
        },
    );
    let form = grounds.target.promises().key.form;
    if let Some(planned_sweep) = &scenario.sweep {
        let rounds = |number| {
            let fresh = Fresh::of(&grounds.run_id, &planned.name(), number, scenario, form);
            Round::new(world.clone(), scenario, number, fresh)
        };
        return sweep::sweep(world, scenario, planned_sweep, &rounds).await;
    }
    for number in 1..=scenario.rounds {
        let fresh = Fresh::of(&grounds.run_id, &planned.name(), number, scenario, form);
        Round::new(world.clone(), scenario, number, fresh)?.play().await?;
        if grounds.first_break && number < scenario.rounds {
            let view = world.recorder.look(|events| View::of(number, events));
            if law::judge(scenario, &[view]).verdict() == Verdict::Fail {
                break;
            }
        }
    }
    Ok(())
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

impl Played {
    /// The rounds, indexed.
    #[must_use]
    pub fn views(&self) -> Vec<View> {
        let mut rounds = View::rounds(&self.events);
        if self.fault.is_some() {
            // What a broken harness or a dead target made of a round says nothing about promises.
            rounds.retain(View::is_whole);
        }
        rounds
    }

    /// What the laws say of it.
    #[must_use]
    pub fn judge(&self, views: &[View]) -> CellJudgement {
        let mut judgement = law::judge(&self.planned.loaded.scenario, views);
        if let Some(why) = law::malformed(&self.events) {
            judgement.add(law::Judgement::undecided("history", why));
        }
        judgement
    }

    /// The report's cell.
    #[must_use]
    pub fn report(&self, judgement: &CellJudgement, replay: String) -> Cell {
        let loaded = &self.planned.loaded;
        let broke = judgement.verdict() == Verdict::Fail;
        // A promise that broke before the harness did is still broken; without one, what broke is told.
        let verdict = match &self.fault {
            Some(_) if !broke => Verdict::Error,
            _ => judgement.verdict(),
        };
        let timeline = report::timeline(&self.events, judgement);
        Cell {
            verdict,
            rounds: self.events.last().map_or(0, |event| event.round),
            duration_us: self.duration_us,
            setup_us: self.setup_us,
            gate: report::gates(&self.events),
            promises: judgement
                .promises
                .iter()
                .map(|(j, rounds)| report::promise(j, rounds, loaded, &timeline))
                .collect(),
            witnesses: witnesses(judgement),
            error: self.fault.as_ref().map(CellError::from),
            timeline: timeline.moments,
            curl: report::curl(&self.events, judgement.round),
            ..blank(&self.planned, replay)
        }
    }
}

impl Played {
    /// Judges cells of one scenario, and compares them where the scenario says that they must look alike.
    #[must_use]
    pub fn judge_together(together: &[Self], replay: impl Fn(&PlannedCell) -> String) -> Vec<Cell> {
        let views: Vec<_> = together.iter().map(Self::views).collect();
        let mut judgements: Vec<_> =
            together.iter().zip(&views).map(|(played, views)| played.judge(views)).collect();
        let alike =
            together.first().and_then(|played| played.planned.loaded.scenario.invariants.alike.as_ref());
        if let Some(alike) = alike {
            let seen: Vec<Seen<'_>> = together
                .iter()
                .zip(&views)
                .map(|(played, rounds)| Seen {
                    at: &played.planned.loaded.at,
                    scenario: &played.planned.loaded.scenario,
                    rounds,
                })
                .collect();
            for (judgement, alike) in judgements.iter_mut().zip(law::compare_alike(&seen, alike)) {
                judgement.add(alike);
            }
        }
        together
            .iter()
            .zip(judgements)
            .map(|(played, judged)| played.report(&judged, replay(&played.planned)))
            .collect()
    }
}

/// The report's cell for one that wasn't played.
#[must_use]
pub(super) fn skipped(planned: &PlannedCell, reason: &str, replay: String) -> Cell {
    Cell { verdict: Verdict::Skipped, skipped: Some(reason.to_owned()), ..blank(planned, replay) }
}

fn blank(planned: &PlannedCell, replay: String) -> Cell {
    let loaded = &planned.loaded;
    let scenario = &loaded.scenario;
    Cell {
        scenario: scenario.id.clone(),
        title: scenario.title.clone(),
        why: scenario.why.split_whitespace().collect::<Vec<_>>().join(" "),
        tags: scenario.tags.clone(),
        covers: scenario.covers.clone(),
        at: loaded.at.clone().into_iter().collect::<BTreeMap<_, _>>(),
        source: Source { file: loaded.source.clone(), line: loaded.lines.id() },
        verdict: Verdict::Skipped,
        flaky: false,
        rounds: 0,
        repeats: Vec::new(),
        duration_us: 0,
        setup_us: 0,
        gate: None,
        promises: Vec::new(),
        witnesses: Vec::new(),
        skipped: None,
        error: None,
        timeline: Vec::new(),
        replay,
        curl: Vec::new(),
    }
}

fn witnesses(judgement: &CellJudgement) -> Vec<Witness> {
    let mut witnesses: Vec<Witness> = judgement
        .witnesses
        .iter()
        .map(|(sighting, rounds)| Witness {
            name: sighting.name.clone(),
            seen: !rounds.is_empty(),
            rounds_seen: u32::try_from(rounds.len()).unwrap_or(u32::MAX),
            detail: sighting.detail.clone(),
        })
        .collect();
    // What a step waited for in vain is a witness that is missing, whether or not the scenario names it.
    witnesses.extend(judgement.missed.iter().take(3).map(|(round, step, what)| Witness {
        name: format!("step {step}"),
        seen: false,
        rounds_seen: 0,
        detail: format!("round {round}: {what}"),
    }));
    witnesses
}
