//! A world in which one plan after the other is played. Building a world takes longer than most plans; fresh keys and
//! payloads in every round keep them apart.

use std::sync::Arc;

use super::{
    fresh::Fresh,
    round::Round,
    world::{Grounds, World},
};
use crate::{
    fail::Fault,
    history::{Event, Kind},
    law::View,
    scenario::Scenario,
    target::Form,
};

/// A world that is used again.
#[derive(Debug)]
pub struct Stage {
    world: Arc<World>,
    run_id: String,
    form: Form,
    rounds: u32,
}

impl Stage {
    /// Builds a world with the settings and the wiring that a scenario wants.
    pub async fn open(grounds: &Grounds, scenario: &Scenario, replicas: usize) -> Result<Self, Fault> {
        let world = World::build(grounds, scenario, replicas).await?;
        let wall_us = world.recorder.wall_us();
        let started = Kind::CellStarted {
            scenario: scenario.id.clone(),
            cell: std::collections::BTreeMap::new(),
            wall_us,
        };
        world.recorder.record(0, started);
        // Keys must be new even where the target keeps what an earlier world left.
        let run_id = format!("{}-{}", grounds.run_id, uuid::Uuid::new_v4());
        Ok(Self { world, run_id, form: grounds.target.promises().key.form, rounds: 0 })
    }

    /// Plays one round of a scenario and returns what was seen of it.
    pub async fn play(&mut self, scenario: &Scenario) -> Result<(View, Vec<Event>), Fault> {
        self.rounds += 1;
        let number = self.rounds;
        let fresh = Fresh::of(&self.run_id, &scenario.id, number, scenario, self.form);
        let played = Round::new(self.world.clone(), scenario, number, fresh)?.play().await;
        if let Some(double) = &self.world.double {
            // What is still held would keep a worker busy for as long as the world stands.
            double.abandon(number);
        }
        let events: Vec<Event> = self
            .world
            .recorder
            .look(|events| events.iter().filter(|event| event.round == number).cloned().collect());
        played.map(|()| (View::of(number, &events), events))
    }

    /// What happened in the last round, also where it broke.
    #[must_use]
    pub fn last_round(&self) -> Vec<Event> {
        let last = |event: &&Event| event.round == self.rounds;
        self.world.recorder.look(|events| events.iter().filter(last).cloned().collect())
    }

    /// Where the replicas listen.
    pub async fn bases(&self) -> Vec<String> {
        self.world.bases().await
    }

    /// Rounds so far.
    #[must_use]
    pub const fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Takes the world down.
    pub async fn end(self) {
        self.world.end().await;
    }
}
