//! A client of the service under test that keeps its connection: what it sends, and what it makes of the answers.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::{
    engine::headers_of,
    fail::Fault,
    gate::{Client, Lane, Outcome, Prepared},
    history::Answer,
    target::{Form, Operation, TargetFile, Values, read_answer, render},
};

/// Between two looks at a job, growing from the first to the second: only an answer can tell its state.
const LOOK_EVERY: Duration = Duration::from_millis(2);
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_millis(20);

/// A client of the service under test.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) number: u32,
    target: Arc<TargetFile>,
    client: Client,
    lane: Option<Lane>,
    headers: Vec<(String, String)>,
}

/// What a submit came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Submitted {
    /// The answer names the job and its state.
    Job { id: String, state: Option<String>, replayed: bool },
    /// The service said no.
    Refused,
    /// No answer, or none that names a job.
    Unknown,
}

impl Caller {
    pub(super) fn new(number: u32, target: Arc<TargetFile>, client: Client) -> Self {
        let headers = headers_of(&target, target.owner.first());
        Self { number, target, client, lane: None, headers }
    }

    /// Submits the job of this key.
    pub(super) async fn submit(&mut self, key: &str) -> Result<Submitted, Fault> {
        let mut values = Values::default();
        values.set("key", key_of(key, self.target.promises().key.form));
        values.set("payload", json!({ "text": key }));
        values.set("payload.text", key);
        let operation = self.target.target.submit.clone();
        let Some(answer) = self.ask(&operation, &values).await? else { return Ok(Submitted::Unknown) };
        Ok(match answer {
            Answer { status: 200..=299, job: Some(id), state, replayed, .. } => {
                Submitted::Job { id, state, replayed }
            }
            Answer { status: 400..=499 | 503, .. } => Submitted::Refused,
            _ => Submitted::Unknown,
        })
    }

    /// Asks for a job until it has ended. The state in which it ended; nothing where that couldn't be learned in time.
    pub(super) async fn end_of(
        &mut self,
        job: &str,
        mut state: Option<String>,
    ) -> Result<Option<String>, Fault> {
        let Some(read) = self.target.target.read.clone() else { return Ok(state) };
        let mut values = Values::default();
        values.set("job", job);
        let deadline = Instant::now() + self.target.target.answer_within.0;
        let mut pause = LOOK_EVERY;
        loop {
            if state.as_deref().is_some_and(|state| matches!(state, "succeeded" | "failed" | "cancelled")) {
                return Ok(state);
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LOOK_AT_LEAST_EVERY);
            state = self.ask(&read, &values).await?.and_then(|answer| answer.state);
        }
    }

    async fn ask(&mut self, operation: &Operation, values: &Values) -> Result<Option<Answer>, Fault> {
        let rendered = render(operation, values)?;
        let mut headers = self.headers.clone();
        headers.extend(rendered.headers);
        let prepared = Prepared {
            method: rendered.method,
            path: rendered.path,
            headers,
            body: rendered.body.unwrap_or_default(),
        };
        let Ok(raw) = self.exchange(&prepared).await else { return Ok(None) };
        let states = &self.target.target.states;
        Ok(Some(read_answer(operation, states, raw.status, &raw.headers, &raw.body)?))
    }

    /// One exchange over the connection that is there, or over a new one.
    pub(super) async fn exchange(&mut self, prepared: &Prepared) -> Outcome {
        let deadline = Instant::now() + self.target.target.answer_within.0;
        let mut lane = match self.lane.take() {
            Some(lane) => lane,
            None => self.client.connect(deadline).await?,
        };
        let raw = lane.send(prepared, deadline, || ()).await?;
        if raw.header("connection").is_none_or(|said| !said.eq_ignore_ascii_case("close")) {
            self.lane = Some(lane);
        }
        Ok(raw)
    }
}

fn key_of(key: &str, form: Form) -> String {
    match form {
        Form::VisibleAscii => key.to_owned(),
        Form::Uuid => {
            let digest = Sha256::digest(key.as_bytes());
            let bytes: [u8; 16] = std::array::from_fn(|at| digest[at]);
            uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
        }
    }
}
