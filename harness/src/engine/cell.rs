//! One cell: its world, its rounds, and what the laws make of them.

use std::{collections::BTreeMap, io, sync::Arc, time::Instant};

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
    fail::{Code, Fault},
    history::{History, Kind, Recorder},
    law::{self, CellJudgement, Form, Judge, Judgement, Seen, View},
};

/// A cell that was played: its history, and what is known without it.
#[derive(Debug)]
pub struct Played {
    /// The cell.
    pub planned: PlannedCell,
    /// Its history, as far as it got.
    pub history: History,
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
                history: History::default(),
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
    let history = world.recorder.end();
    Played { planned, history, fault, duration_us: micros(began), setup_us }
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
        world.recorder.settle();
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

/// What a cell's history says, before anything is shown of it.
struct Judged {
    verdict: CellJudgement,
    /// The gates that opened, by name.
    gates: Option<String>,
}

impl Played {
    /// The rounds that count, one after the other.
    fn each_round(&self, mut look: impl FnMut(View)) -> io::Result<()> {
        self.history.each_round(|round, events| {
            let view = View::of(round, events);
            // What a broken harness or a dead target made of a round says nothing about promises.
            if self.fault.is_none() || view.is_whole() {
                look(view);
            }
        })
    }

    /// What the laws say of it.
    fn judge(&self) -> io::Result<Judged> {
        let (mut form, mut gates) = (Form::default(), report::Gates::default());
        self.history.each(|event| {
            form.take(event);
            gates.take(event);
        })?;
        let mut judge = Judge::of(&self.planned.loaded.scenario);
        self.each_round(|view| judge.take(&view))?;
        let mut verdict = judge.end();
        if let Some(why) = form.end() {
            verdict.add(Judgement::undecided("history", why));
        }
        Ok(Judged { verdict, gates: gates.names() })
    }

    /// The report's cell.
    fn report(&self, judged: &Judged, replay: String) -> io::Result<Cell> {
        let (loaded, judgement) = (&self.planned.loaded, &judged.verdict);
        let broke = judgement.verdict() == Verdict::Fail;
        // A promise that broke before the harness did is still broken; without one, what broke is told.
        let verdict = match &self.fault {
            Some(_) if !broke => Verdict::Error,
            _ => judgement.verdict(),
        };
        let round = self.history.round(judgement.round)?;
        let timeline = report::timeline(&round, judgement, verdict);
        Ok(Cell {
            verdict,
            rounds: self.history.last_round(),
            duration_us: self.duration_us,
            setup_us: self.setup_us,
            gate: judged.gates.clone(),
            promises: judgement
                .promises
                .iter()
                .map(|(j, rounds)| report::promise(j, rounds, loaded, &timeline))
                .collect(),
            witnesses: witnesses(judgement),
            error: self.fault.as_ref().map(CellError::from),
            kills: judgement.kills,
            moments_left_out: timeline.left_out,
            timeline: timeline.moments,
            curl: report::curl(&round),
            ..blank(&self.planned, replay)
        })
    }

    /// The report's cell of one that is judged by itself.
    #[must_use]
    pub fn alone(&self, replay: String) -> Cell {
        let judged = self.judge().and_then(|judged| self.report(&judged, replay.clone()));
        judged.unwrap_or_else(|error| self.unread(&error, replay))
    }

    /// Judges cells of one scenario, and compares them where the scenario says that they must look alike.
    #[must_use]
    pub fn judge_together(together: &[Self], replay: impl Fn(&PlannedCell) -> String) -> Vec<Cell> {
        let alike =
            together.first().and_then(|played| played.planned.loaded.scenario.invariants.alike.as_ref());
        let Some(alike) = alike else {
            return together.iter().map(|played| played.alone(replay(&played.planned))).collect();
        };
        let mut judged: Vec<io::Result<(Judged, Vec<View>)>> = together
            .iter()
            .map(|played| {
                let mut views = Vec::new();
                played.each_round(|view| views.push(view))?;
                Ok((played.judge()?, views))
            })
            .collect();
        let read = together.iter().zip(&judged).filter_map(|(played, judged)| {
            let rounds = &judged.as_ref().ok()?.1;
            let loaded = &played.planned.loaded;
            Some(Seen { at: &loaded.at, scenario: &loaded.scenario, rounds })
        });
        let compared = law::compare_alike(&read.collect::<Vec<_>>(), alike);
        for ((judged, _), alike) in judged.iter_mut().flatten().zip(compared) {
            judged.verdict.add(alike);
        }
        together
            .iter()
            .zip(judged)
            .map(|(played, judged)| {
                let replay = replay(&played.planned);
                let cell = judged.and_then(|(judged, _)| played.report(&judged, replay.clone()));
                cell.unwrap_or_else(|error| played.unread(&error, replay))
            })
            .collect()
    }

    /// The report's cell of one whose history can't be read back.
    fn unread(&self, error: &io::Error, replay: String) -> Cell {
        let fault = Fault::new(
            Code::HistoryUnreadable,
            format!("what happened in the cell can't be read back: {error}"),
            "check the space in TMPDIR, where long histories are while a run goes on",
        );
        Cell {
            verdict: Verdict::Error,
            rounds: self.history.last_round(),
            duration_us: self.duration_us,
            setup_us: self.setup_us,
            error: Some(CellError::from(&fault)),
            ..blank(&self.planned, replay)
        }
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
        kills: None,
        timeline: Vec::new(),
        moments_left_out: 0,
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
