//! Chance that can be repeated: what is thrown depends on a seed and a plan's number alone.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{RngCore as _, SeedableRng as _},
};

/// The dice of one plan.
#[derive(Debug)]
pub(super) struct Dice(ChaCha8Rng);

impl Dice {
    /// Each plan has a stream of its own, so none depends on how much the others threw.
    #[must_use]
    pub(super) fn new(seed: u64, index: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(index);
        Self(generator)
    }

    /// A number from 0 to `sides - 1`; 0 where there are no sides.
    pub(super) fn below(&mut self, sides: u32) -> u32 {
        // The bias of the remainder is far below anything that a weight of ours expresses.
        u32::try_from(self.0.next_u64() % u64::from(sides.max(1))).unwrap_or(0)
    }

    /// A number from `least` to `most`.
    pub(super) fn between(&mut self, least: u32, most: u32) -> u32 {
        least + self.below(most.saturating_sub(least) + 1)
    }

    /// True in one of `many` cases.
    pub(super) fn one_in(&mut self, many: u32) -> bool {
        self.below(many) == 0
    }

    /// One of these, each as likely as its weight; none where all weights are 0.
    pub(super) fn weighted<T: Clone>(&mut self, choices: &[(u32, T)]) -> Option<T> {
        let sum: u32 = choices.iter().map(|(weight, _)| weight).sum();
        if sum == 0 {
            return None;
        }
        let mut at = self.below(sum);
        for (weight, choice) in choices {
            if at < *weight {
                return Some(choice.clone());
            }
            at -= weight;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_repeats_itself_and_differs_from_its_neighbours() {
        let throw = |seed, index| {
            let mut dice = Dice::new(seed, index);
            (0..20).map(|_| dice.below(1_000)).collect::<Vec<_>>()
        };
        assert_eq!(throw(7, 3), throw(7, 3));
        assert_ne!(throw(7, 3), throw(7, 4));
        assert_ne!(throw(7, 3), throw(8, 3));
    }

    #[test]
    fn weights_of_nothing_are_never_chosen() {
        let mut dice = Dice::new(1, 1);
        assert!((0..100).all(|_| dice.weighted(&[(0, 'a'), (3, 'b')]) == Some('b')));
        assert_eq!(dice.weighted(&[(0, 'a')]), None);
        assert!((0..100).all(|_| (2..=4).contains(&dice.between(2, 4))));
    }
}
