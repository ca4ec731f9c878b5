//! The spend cap.

use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::answer::Usage;
use crate::contract::Budget;
use crate::provider::Price;

/// What a run has spent, against what it may spend.
///
/// A call that is out may cost what it can cost at most, so that much is held back until it is home: calls that are out
/// together never go beyond the cap together. A call without a limit on its output can cost anything, and goes out alone.
#[derive(Debug)]
pub struct Ledger {
    budget: Budget,
    price: Option<Price>,
    state: Mutex<State>,
    settled: Notify,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    spent: Spent,
    held_tokens: u64,
    held_usd: f64,
    out: u32,
    /// A call without a limit is out.
    alone: bool,
}

/// What was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Requests sent, retries included.
    pub calls: u64,
    /// Prompt tokens as reported; of a call that never came home, what it may have taken.
    pub input_tokens: u64,
    /// Output tokens, likewise.
    pub output_tokens: u64,
    /// US dollars by the provider's price; 0 without one.
    pub usd: f64,
}

/// The cap is reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the spend cap is reached: {0}")]
pub struct Exhausted(String);

/// What a call took at most, while it is out. Dropped, it is spent: nobody knows what became of the call.
#[derive(Debug)]
pub struct Held<'a> {
    ledger: &'a Ledger,
    most: Option<Usage>,
    done: bool,
}

impl Ledger {
    /// Nothing spent yet.
    #[must_use]
    pub fn new(budget: Budget, price: Option<Price>) -> Self {
        Self { budget, price, state: Mutex::default(), settled: Notify::new() }
    }

    /// Takes one call out of the budget, before it is sent; waits while calls that are out may still need what is left.
    /// `most` is what the call can take at most, where that is known.
    ///
    /// # Errors
    /// When there is not enough left, whatever those that are out come to.
    pub async fn reserve(&self, most: Option<Usage>) -> Result<Held<'_>, Exhausted> {
        loop {
            let mut settled = std::pin::pin!(self.settled.notified());
            // Whoever comes home between the look and the wait must be heard.
            settled.as_mut().enable();
            if self.take(most)? {
                return Ok(Held { ledger: self, most, done: false });
            }
            settled.await;
        }
    }

    /// Takes the call if it fits now; false when it may fit once others are home.
    fn take(&self, most: Option<Usage>) -> Result<bool, Exhausted> {
        let mut state = self.lock();
        let spent = state.spent;
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
        if !self.counts_tokens() {
            state.spent.calls += 1;
            return Ok(true);
        }
        let (most_tokens, most_usd) = self.worth(most);
        let rest = |cap: u64| cap.saturating_sub(tokens).saturating_sub(state.held_tokens);
        let fits = if most.is_none() {
            state.out == 0
        } else {
            !state.alone
                && self.budget.tokens.is_none_or(|cap| most_tokens <= rest(cap))
                && self.budget.usd.is_none_or(|cap| spent.usd + state.held_usd + most_usd <= cap)
        };
        if fits {
            state.spent.calls += 1;
            state.out += 1;
            state.alone = most.is_none();
            state.held_tokens += most_tokens;
            state.held_usd += most_usd;
            return Ok(true);
        }
        if state.out > 0 {
            return Ok(false);
        }
        Err(Exhausted(format!(
            "{tokens} tokens and {:.4} US dollars are spent, and the next call may take {most_tokens} tokens and \
             {most_usd:.4} US dollars: a tokenizer and a lower output limit make that less",
            spent.usd
        )))
    }

    fn counts_tokens(&self) -> bool {
        self.budget.tokens.is_some() || self.budget.usd.is_some()
    }

    fn worth(&self, most: Option<Usage>) -> (u64, f64) {
        let Some(most) = most else { return (0, 0.0) };
        (most.sum().unwrap_or(0), self.price.map_or(0.0, |price| price.of(&most)))
    }

    fn settle(&self, most: Option<Usage>, usage: &Usage) {
        let mut state = self.lock();
        state.spent.input_tokens += usage.input.unwrap_or(0);
        state.spent.output_tokens += usage.output.unwrap_or(0);
        state.spent.usd += self.price.map_or(0.0, |price| price.of(usage));
        if self.counts_tokens() {
            let (tokens, usd) = self.worth(most);
            state.out -= 1;
            state.alone = false;
            state.held_tokens = state.held_tokens.saturating_sub(tokens);
            // Sums of fractions don't come back to nothing exactly.
            state.held_usd = if state.out == 0 { 0.0 } else { (state.held_usd - usd).max(0.0) };
        }
        drop(state);
        self.settled.notify_waiters();
    }

    /// What was spent so far.
    #[must_use]
    pub fn spent(&self) -> Spent {
        self.lock().spent
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // The figures are plain numbers: a panic elsewhere can't leave them half-written.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Held<'_> {
    /// The call is home and reported this. What it does not report, it may have taken.
    pub fn home(mut self, usage: &Usage) {
        let most = self.most.filter(|_| self.ledger.counts_tokens()).unwrap_or_default();
        let usage = Usage {
            input: usage.input.or(most.input),
            output: usage.output.or(most.output),
            total: usage.total,
        };
        self.done = true;
        self.ledger.settle(self.most, &usage);
    }

    /// The call certainly took nothing.
    pub fn free(mut self) {
        self.done = true;
        self.ledger.settle(self.most, &Usage::default());
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if !self.done {
            let counted = self.most.filter(|_| self.ledger.counts_tokens());
            self.ledger.settle(self.most, &counted.unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt as _;

    use super::*;

    const PRICE: Price = Price { input: 1.0, output: 10.0 };

    fn usage(input: u64, output: u64) -> Usage {
        Usage { input: Some(input), output: Some(output), total: None }
    }

    #[tokio::test]
    async fn the_number_of_calls_is_exact() {
        let ledger = Ledger::new(Budget { calls: Some(2), ..Budget::default() }, None);
        ledger.reserve(None).await.unwrap().free();
        ledger.reserve(None).await.unwrap().free();
        let over = ledger.reserve(None).await.unwrap_err().to_string();
        assert_eq!(over, "the spend cap is reached: 2 calls");
        assert_eq!(ledger.spent().calls, 2);
    }

    #[tokio::test]
    async fn money_and_tokens_end_a_run() {
        for budget in [
            Budget { usd: Some(2.0), ..Budget::default() },
            Budget { tokens: Some(1_100_000), ..Budget::default() },
        ] {
            let ledger = Ledger::new(budget, Some(PRICE));
            ledger.reserve(None).await.unwrap().home(&usage(1_000_000, 100_000));
            assert!((ledger.spent().usd - 2.0).abs() < 1e-9);
            assert!(ledger.reserve(None).await.is_err());
        }
    }

    /// Calls that take between a little and all that they may, many at a time, some of which never come home.
    #[tokio::test]
    async fn the_cap_is_never_exceeded_whatever_is_out_together() {
        for most in [None, Some(usage(60, 40))] {
            for budget in [
                Budget { tokens: Some(1_050), ..Budget::default() },
                Budget { usd: Some(0.005), ..Budget::default() },
            ] {
                let ledger = Ledger::new(budget, Some(PRICE));
                let calls = futures::stream::iter(0..200_u64).map(|number| {
                    let ledger = &ledger;
                    async move {
                        let Ok(held) = ledger.reserve(most).await else { return false };
                        tokio::task::yield_now().await;
                        match number % 5 {
                            0 => drop(held),
                            1 => held.free(),
                            // Without a limit the last call may still go over by itself; with one it may not.
                            _ => held.home(&usage(1 + number % 60, 1 + number % 40)),
                        }
                        true
                    }
                });
                let taken =
                    calls.buffer_unordered(16).filter(|taken| futures::future::ready(*taken)).count().await;
                let spent = ledger.spent();
                let tokens = spent.input_tokens + spent.output_tokens;
                let slack = if most.is_none() { 100 } else { 0 };
                assert!(budget.tokens.is_none_or(|cap| tokens <= cap + slack), "{most:?}: {spent:?}");
                let slack = if most.is_none() { 0.0005 } else { 1e-12 };
                assert!(budget.usd.is_none_or(|cap| spent.usd <= cap + slack), "{most:?}: {spent:?}");
                assert_eq!(spent.calls, taken as u64);
                assert!(taken > 10, "{taken}");
            }
        }
    }

    #[tokio::test]
    async fn a_call_that_could_never_fit_says_what_it_may_take() {
        let ledger = Ledger::new(Budget { tokens: Some(50), ..Budget::default() }, None);
        let over = ledger.reserve(Some(usage(60, 40))).await.unwrap_err().to_string();
        assert!(over.contains("100 tokens"), "{over}");
    }
}
