//! Where plans are played: calm ones one after the other in worlds that are used again, rough ones each in its own.

use std::{collections::BTreeMap, sync::Arc};

use onejob_reports::model::{Outcome, Verdict};
use tokio::sync::Mutex;

use super::{ability::Ability, plan::Plan};
use crate::{
    engine::{Grounds, Stage, as_promised},
    fail::Fault,
    history::Event,
    law::{self, View},
    scenario::Scenario,
};

/// Rounds after which a world is replaced: its history grows, and so does what is left over in its database.
const MOST_ROUNDS: u32 = 30;

/// All worlds that stand.
#[derive(Debug, Clone)]
pub struct Theatre {
    grounds: Grounds,
    ability: Arc<Ability>,
    /// Idle worlds by the number of their replicas.
    idle: Arc<Mutex<BTreeMap<u32, Vec<Stage>>>>,
}

/// A promise that broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Its name in the catalogue, or `expect:STEP`.
    pub promise: String,
    /// What happened.
    pub sentence: String,
}

/// What became of a plan.
#[derive(Debug)]
pub struct Tried {
    /// What was seen.
    pub view: View,
    /// The same as events.
    pub events: Vec<Event>,
    /// The verdict.
    pub verdict: Verdict,
    /// The first promise that broke.
    pub broken: Option<Broken>,
}

impl Theatre {
    /// An empty one.
    #[must_use]
    pub fn new(grounds: Grounds, ability: Ability) -> Self {
        Self { grounds, ability: Arc::new(ability), idle: Arc::default() }
    }

    /// What plans may use.
    #[must_use]
    pub fn ability(&self) -> &Ability {
        &self.ability
    }

    /// What all worlds are built on.
    #[must_use]
    pub const fn grounds(&self) -> &Grounds {
        &self.grounds
    }

    /// Plays a plan once.
    pub async fn play(&self, plan: &Plan) -> Result<Tried, Fault> {
        self.stage(&plan.scenario(&self.ability), plan.is_rough()).await
    }

    /// Plays a scenario once; a rough one has a world to itself.
    pub async fn stage(&self, scenario: &Scenario, rough: bool) -> Result<Tried, Fault> {
        let promises = self.grounds.target.promises();
        let Ok(scenario) = as_promised(scenario.clone(), &promises) else {
            // The profile promises nothing of the kind, so nothing can break.
            let view = View::default();
            return Ok(Tried { view, events: Vec::new(), verdict: Verdict::Skipped, broken: None });
        };
        let scenario = &scenario;
        let replicas = scenario.step.iter().filter_map(|step| step.with.replica).max().unwrap_or(1);
        let idle = if rough { None } else { self.idle.lock().await.get_mut(&replicas).and_then(Vec::pop) };
        let mut stage = match idle {
            Some(stage) => stage,
            None => Stage::open(&self.grounds, scenario, replicas as usize).await?,
        };
        let played = stage.play(scenario).await;
        if rough || played.is_err() || stage.rounds() >= MOST_ROUNDS {
            stage.end().await;
        } else {
            self.idle.lock().await.entry(replicas).or_default().push(stage);
        }
        let (view, events) = played?;
        let judged = law::judge(scenario, std::slice::from_ref(&view));
        let broken = judged.promises.iter().map(|(promise, _)| promise).find(|p| p.outcome == Outcome::Broke);
        let broken = broken
            .map(|promise| Broken { promise: promise.name.clone(), sentence: promise.sentence.clone() });
        Ok(Tried { verdict: judged.verdict(), broken, view, events })
    }

    /// Takes all worlds down.
    pub async fn close(&self) {
        let idle = std::mem::take(&mut *self.idle.lock().await);
        for stage in idle.into_values().flatten() {
            stage.end().await;
        }
    }
}
