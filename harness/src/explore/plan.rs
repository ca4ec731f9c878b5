//! A plan: moves made from a seed and a number, and the scenario that they are.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::{
    ability::Ability,
    dice::Dice,
    draft::Draft,
    draw::{self, Theme},
    moves::{Looker, Move},
};
use crate::scenario::{Capability, Scenario};

/// What is done, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Which one of its seed's.
    pub index: u64,
    pub(super) moves: Vec<Move>,
    /// Whether two replicas serve it.
    pub(super) two: bool,
}

impl Plan {
    /// The plan of this number. Nothing but the seed, the number and the target's ability goes in.
    #[must_use]
    pub fn of(seed: u64, index: u64, ability: &Ability) -> Self {
        let mut dice = Dice::new(seed, index);
        let theme = Theme::of(index);
        let two = ability.can(Capability::Replicas) && (theme == Theme::Troubles || dice.one_in(4));
        let moves = draw::moves(&mut dice, theme, Draft::new(ability));
        Self { index, moves, two }
    }

    /// The scenario that it is.
    #[must_use]
    pub fn scenario(&self, ability: &Ability) -> Scenario {
        let mut draft = Draft::new(ability);
        for what in &self.moves {
            draft.add(what);
        }
        let replicas = draft.steps.iter().filter_map(|step| step.with.replica).max().unwrap_or(1);
        if self.two && replicas < 2 {
            // Somebody has to speak of the second replica, or there would be none.
            draft.add(&Move::Read { job: 0, by: Looker::SecondReplica });
        }
        draft.scenario(format!("explored-{}", self.index))
    }

    /// How many intents it has.
    #[must_use]
    pub(super) fn jobs(&self) -> usize {
        self.moves.iter().filter(|what| matches!(what, Move::Submit(_))).count()
    }

    /// Whether it breaks something, and thereby its world.
    #[must_use]
    pub fn is_rough(&self) -> bool {
        self.moves.iter().any(|what| matches!(what, Move::Break { .. }))
    }
}

/// Identifies a seed's plans: equal digests, equal plans.
#[must_use]
pub fn digest(seed: u64, plans: u64, ability: &Ability) -> String {
    use std::fmt::Write as _;
    let mut hash = Sha256::new();
    for index in 0..plans {
        let plan = Plan::of(seed, index, ability);
        // A scenario of strings, numbers and switches can always be written.
        hash.update(serde_json::to_vec(&plan.scenario(ability)).unwrap_or_default());
    }
    hash.finalize().iter().take(8).fold(String::new(), |mut out, byte| {
        // Writing to a String can't fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
