//! A transport that answers from a list.

use std::sync::Mutex;
use std::time::Duration;

use onejob_contracts::provider::Outgoing;
use onejob_contracts::transport::{BoxFuture, CallId, Exchange, Transport};
use tokio::time::Instant;

/// Answers in order; the last answer again and again.
pub(crate) struct Script {
    answers: Vec<Exchange>,
    sent: Mutex<Vec<Instant>>,
}

impl Script {
    pub(crate) fn new(answers: Vec<Exchange>) -> Self {
        Self { answers, sent: Mutex::new(Vec::new()) }
    }

    pub(crate) fn sends(&self) -> usize {
        self.sent.lock().unwrap().len()
    }

    /// When each call was sent.
    pub(crate) fn times(&self) -> Vec<Instant> {
        self.sent.lock().unwrap().clone()
    }
}

impl Transport for Script {
    fn send<'a>(
        &'a self,
        _id: &'a CallId,
        _request: &'a Outgoing,
        _deadline: Duration,
    ) -> BoxFuture<'a, Exchange> {
        let number = {
            let mut sent = self.sent.lock().unwrap();
            sent.push(Instant::now());
            sent.len() - 1
        };
        let answer = self.answers.get(number).or(self.answers.last()).cloned();
        Box::pin(async move { answer.unwrap_or_else(|| Exchange::Broken("the script is empty".into())) })
    }
}
