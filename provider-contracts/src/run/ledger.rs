//! The spend cap.

use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::answer::Usage;
use crate::contract::Budget;
use crate::provider::Price;

/// What a run has spent, against what it may spend.
#[derive(Debug)]
pub struct Ledger {
    budget: Budget,
    price: Option<Price>,
    spent: Mutex<Spent>,
}

/// What was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Requests sent, retries included.
    pub calls: u64,
    /// Prompt tokens as reported.
    pub input_tokens: u64,
    /// Output tokens as reported.
    pub output_tokens: u64,
    /// US dollars by the provider's price; 0 without one.
    pub usd: f64,
}

/// The cap is reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the spend cap is reached: {0}")]
pub struct Exhausted(String);

impl Ledger {
    /// Nothing spent yet.
    #[must_use]
    pub fn new(budget: Budget, price: Option<Price>) -> Self {
        Self { budget, price, spent: Mutex::new(Spent::default()) }
    }

    /// Takes one call out of the budget, before it is sent. Calls in flight may still overshoot tokens and money by what
    /// they cost themselves; the number of calls is exact.
    ///
    /// # Errors
    /// When there is nothing left.
    pub fn reserve(&self) -> Result<(), Exhausted> {
        let mut spent = self.lock();
        let tokens = spent.input_tokens + spent.output_tokens;
        if let Some(cap) = self.budget.calls.filter(|cap| spent.calls >= *cap) {
            return Err(Exhausted(format!("{cap} calls")));
        }
        if let Some(cap) = self.budget.tokens.filter(|cap| tokens >= *cap) {
            return Err(Exhausted(format!("{cap} tokens")));
        }
        if let Some(cap) = self.budget.usd.filter(|cap| spent.usd >= *cap) {
            return Err(Exhausted(format!("{cap} US dollars")));
        }
        spent.calls += 1;
        Ok(())
    }

    /// Books what a call reported.
    pub fn book(&self, usage: &Usage) {
        let mut spent = self.lock();
        spent.input_tokens += usage.input.unwrap_or(0);
        spent.output_tokens += usage.output.unwrap_or(0);
        spent.usd += self.price.map_or(0.0, |price| price.of(usage));
    }

    /// What was spent so far.
    #[must_use]
    pub fn spent(&self) -> Spent {
        *self.lock()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Spent> {
        // The figures are plain numbers: a panic elsewhere can't leave them half-written.
        self.spent.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_calls_is_exact() {
        let ledger = Ledger::new(Budget { calls: Some(2), ..Budget::default() }, None);
        assert!(ledger.reserve().is_ok() && ledger.reserve().is_ok());
        assert_eq!(ledger.reserve().unwrap_err().to_string(), "the spend cap is reached: 2 calls");
        assert_eq!(ledger.spent().calls, 2);
    }

    #[test]
    fn money_and_tokens_end_a_run() {
        let price = Price { input: 1.0, output: 10.0 };
        let usage = Usage { input: Some(1_000_000), output: Some(100_000), total: None };
        for budget in [
            Budget { usd: Some(2.0), ..Budget::default() },
            Budget { tokens: Some(1_100_000), ..Budget::default() },
        ] {
            let ledger = Ledger::new(budget, Some(price));
            ledger.reserve().unwrap();
            ledger.book(&usage);
            assert!((ledger.spent().usd - 2.0).abs() < 1e-9);
            assert!(ledger.reserve().is_err());
        }
    }
}
