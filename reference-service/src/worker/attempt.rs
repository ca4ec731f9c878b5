use std::pin::pin;
use std::time::Duration;

use onejob_contracts::gate::Trigger;
use tokio::sync::OwnedSemaphorePermit;
use uuid::Uuid;

use super::heart::Heart;
use super::{Phase, Shop};
use crate::Provider;
use crate::domain::{Answer, Unanswered, Verdict};
use crate::failover::{Asked, may_pass};
use crate::metrics::Counter;
use crate::provider::Call;
use crate::reach::Occasion;
use crate::rules::Mark;
use crate::store::{EventKind, Finished, JobRecord, Move, Outcome, Source, StoreError, Unmoved, Work};

/// An attempt in the hands of this worker.
struct Held {
    shop: Shop,
    job: Uuid,
    number: i32,
    provider: Provider,
    /// The provider behind that one in the job's chain.
    next: Option<String>,
    call: Call,
}

/// Carries an attempt out, from the write-ahead mark to the last late answer.
pub(super) async fn carry_out(shop: Shop, work: Work, slot: OwnedSemaphorePermit) {
    let (job, number) = (work.job.id, work.number);
    shop.metrics.count(Counter::AttemptsStarted);
    if let Some(outcome) = turned_away(&shop, &work).await {
        bring_home(&shop, job, number, &outcome, Source::Worker).await;
        return;
    }
    let Some(provider) = shop.config.provider(&work.provider).cloned() else {
        let outcome = Outcome::Failed {
            code: "no-provider".to_owned(),
            message: format!("no provider `{}` is configured", work.provider),
            retry: false,
            retry_after: None,
            moving: Move::NotAsked,
        };
        bring_home(&shop, job, number, &outcome, Source::Worker).await;
        return;
    };
    let rules = &shop.store.rules;
    if let (true, Some(told)) = (rules.reach.wanted(), work.job.traceparent.as_deref()) {
        // A scenario that holds a single call's trace against its request's says so in its `kills`.
        let trace = |header: &str| header.split('-').nth(1).unwrap_or_default().to_owned();
        rules.reach.named("trace", &trace(told), |rules| trace(&(rules.trace)(Some(told))));
    }
    let call = Call {
        provider: provider.name.clone(),
        url: provider.url.clone(),
        reference: reference(&shop, job, number),
        attempt: number,
        kind: work.job.kind.clone(),
        input: JobRecord::json(&work.job.input),
        traceparent: (shop.store.rules.trace)(work.job.traceparent.as_deref()),
    };
    let next = work.job.successor(&provider.name).map(str::to_owned);
    Held { shop, job, number, provider, next, call }.run(slot).await;
}

/// An attempt whose job moved by itself goes out only if it still may. Asked right before the mark: the decision to move
/// is as old as the queue is long.
async fn turned_away(shop: &Shop, work: &Work) -> Option<Outcome> {
    let rules = &shop.store.rules;
    let moved = work.moved.as_ref()?;
    let (kind, from, to) = (work.job.kind.as_str(), moved.from.as_str(), work.provider.as_str());
    let unmoved = match &shop.gate {
        Some(gate) => match gate.ask(Asked { kind, from, to, cause: moved.on }).await {
            Move::Refused(unmoved) => unmoved,
            Move::Allowed { .. } | Move::NotAsked => return None,
        },
        None => Unmoved {
            to: to.to_owned(),
            code: "no_contract",
            reason: "this process has no contract that lets jobs move".to_owned(),
        },
    };
    rules.reach.met(Occasion::TurnedAway);
    rules.asks_again.then(|| Outcome::Failed {
        code: "failover-refused".to_owned(),
        message: format!("`{to}` was not called"),
        retry: may_pass(moved.on),
        retry_after: None,
        moving: Move::Refused(unmoved),
    })
}

impl Held {
    async fn run(self, slot: OwnedSemaphorePermit) {
        let before = self.shop.store.rules.mark == Mark::BeforeTheCall;
        if before && !self.mark().await {
            return;
        }
        let deadline = self.deadline();
        let started = tokio::time::Instant::now();
        let mut heart = Heart::start(&self.shop, self.job, self.number);
        let mut answer = pin!(self.send());
        let mut verdict = tokio::select! {
            answer = &mut answer => Some(self.classify(&answer)),
            () = tokio::time::sleep(deadline) => None,
            () = self.shop.stop.reached(Phase::Stopping) => Some(stopped()),
        };
        let answered = verdict.is_some();
        if !before && !self.mark().await {
            return;
        }
        if let Some(Verdict::Accepted { reference }) = &verdict {
            self.note(EventKind::ProviderAccepted, None, reference.as_deref()).await;
            verdict = tokio::select! {
                () = tokio::time::sleep_until(started + deadline) => None,
                () = heart.stopped() => return,
                () = self.shop.stop.reached(Phase::Stopping) => Some(stopped()),
            };
        }
        let verdict = verdict.unwrap_or_else(|| {
            let rules = &self.shop.store.rules;
            let verdict = (rules.at_deadline)(deadline);
            rules.reach.decided(&verdict, |rules| (rules.at_deadline)(deadline));
            verdict
        });
        self.conclude(verdict).await;
        drop(heart);
        drop(slot);
        if answered {
            return;
        }
        // Past the deadline nothing is decided by this worker any more, but an answer is still evidence.
        let late = tokio::select! {
            answer = &mut answer => answer,
            () = tokio::time::sleep(self.shop.config.late_answers) => return,
            () = self.shop.stop.reached(Phase::Draining) => return,
        };
        self.conclude(self.classify(&late)).await;
    }

    fn deadline(&self) -> Duration {
        self.provider.timeout.unwrap_or(self.shop.config.attempt_timeout)
    }

    /// Commits the write-ahead mark; false when nothing may be sent.
    async fn mark(&self) -> bool {
        match self.shop.store.mark_effect(self.job, self.number).await {
            Ok(marked) => marked,
            Err(error) => {
                // Whether the mark is there or not, the lease runs out, and the sweeper sees which.
                tracing::warn!(%error, "the effect was not started");
                false
            }
        }
    }

    /// Calls the provider, once.
    async fn send(&self) -> Answer {
        let mut resends = self.shop.store.rules.resends;
        let patience = self.deadline() + self.shop.config.late_answers;
        loop {
            let answer = self.shop.client.call(&self.call, patience).await;
            if let (Some(gate), Some(model)) = (&self.shop.gate, answer.model()) {
                gate.hears(&self.provider.name, model);
            }
            if matches!(answer, Answer::None(Unanswered::Lost(_))) {
                self.shop.store.rules.reach.met(Occasion::AnswerLost);
            }
            if resends == 0 || !matches!(answer, Answer::None(Unanswered::Lost(_))) {
                return answer;
            }
            resends -= 1;
        }
    }

    fn classify(&self, answer: &Answer) -> Verdict {
        let rules = &self.shop.store.rules;
        let verdict = (rules.classify)(answer);
        rules.reach.decided(&verdict, |rules| (rules.classify)(answer));
        verdict
    }

    async fn conclude(&self, verdict: Verdict) {
        match verdict {
            Verdict::Succeeded { result, reference } => {
                self.bring(Outcome::Succeeded { result, reference }).await;
            }
            Verdict::Failed { code, message, retry, retry_after, cause } => {
                let moving = Move::NotAsked;
                self.fail(Outcome::Failed { code, message, retry, retry_after, moving }, cause).await;
            }
            Verdict::Accepted { reference } => {
                self.note(EventKind::ProviderAccepted, None, reference.as_deref()).await;
            }
            Verdict::Duplicate { message } => {
                self.note(EventKind::DuplicateReported, Some(&message), None).await;
                self.lose(&message, Duration::ZERO).await;
                persist(&self.shop, self.job, || self.shop.store.probe_now(self.job, self.number)).await;
            }
            Verdict::Unknown { reason } => self.lose(&reason, self.shop.config.probe_pause).await,
        }
    }

    async fn bring(&self, outcome: Outcome) {
        if self.shop.store.rules.repeat_effect_on_conflict {
            let policy = self.shop.config.retry_policy();
            let store = &self.shop.store;
            while let Err(StoreError::Again) =
                store.finish_once(self.job, self.number, &outcome, Source::Worker, &policy).await
            {
                self.send().await;
            }
            return;
        }
        bring_home(&self.shop, self.job, self.number, &outcome, Source::Worker).await;
    }

    /// Writes a definite failure, and where the job goes on. That is asked anew each time the write is tried: while the
    /// database is away, an attestation may expire.
    async fn fail(&self, failed: Outcome, cause: Trigger) {
        let policy = self.shop.config.retry_policy();
        let failed = &failed;
        let finished = persist(&self.shop, self.job, || async move {
            let mut outcome = failed.clone();
            if let Outcome::Failed { moving, .. } = &mut outcome {
                *moving = self.elsewhere(cause).await;
            }
            let store = &self.shop.store;
            store
                .finish(self.job, self.number, &outcome, Source::Worker, &policy)
                .await
                .map(|it| (it, outcome))
        });
        let Some((finished, outcome)) = finished.await else { return };
        tell(&self.shop, self.job, self.number, &outcome, finished);
    }

    /// Whether the job may go on at the next provider of its chain.
    async fn elsewhere(&self, cause: Trigger) -> Move {
        let (Some(gate), Some(to)) = (&self.shop.gate, &self.next) else { return Move::NotAsked };
        gate.ask(Asked { kind: &self.call.kind, from: &self.provider.name, to, cause }).await
    }

    async fn lose(&self, reason: &str, probe_in: Duration) {
        let probe_in = self.shop.probe_in(&self.provider.name).map(|_| probe_in);
        let lost = persist(&self.shop, self.job, || {
            self.shop.store.lose_track(self.job, self.number, reason, probe_in)
        });
        if lost.await == Some(true) {
            self.shop.metrics.count(Counter::OutcomeUnknown);
            tracing::warn!(reason, "the outcome is unknown");
        }
    }

    async fn note(&self, kind: EventKind, detail: Option<&str>, reference: Option<&str>) {
        persist(&self.shop, self.job, || {
            self.shop.store.note(self.job, self.number, kind, detail, reference)
        })
        .await;
    }
}

/// What the provider knows the work by.
pub(super) fn reference(shop: &Shop, job: Uuid, number: i32) -> String {
    let (rules, job) = (&shop.store.rules, job.to_string());
    let reference = (rules.reference)(&job, number);
    rules.reach.named("reference", &reference, |rules| (rules.reference)(&job, number));
    reference
}

fn stopped() -> Verdict {
    Verdict::Unknown { reason: "the service stopped before an answer came".to_owned() }
}

/// Writes what an attempt came to.
pub(super) async fn bring_home(shop: &Shop, job: Uuid, number: i32, outcome: &Outcome, source: Source) {
    let policy = shop.config.retry_policy();
    if let Some(finished) =
        persist(shop, job, || shop.store.finish(job, number, outcome, source, &policy)).await
    {
        tell(shop, job, number, outcome, finished);
    }
}

/// Counts what became of what an attempt brought home, and tells it.
fn tell(shop: &Shop, job: Uuid, number: i32, outcome: &Outcome, finished: Finished) {
    match finished {
        Finished::Accepted(state) => {
            if let Outcome::Failed { moving: Move::Refused(unmoved), .. } = outcome {
                shop.metrics.count(Counter::FailoversRefused);
                tracing::warn!(%job, attempt = number, %unmoved, "the job stays where it is");
            }
            shop.metrics.count(match outcome {
                Outcome::Succeeded { .. } => Counter::OutcomeSucceeded,
                Outcome::Failed { .. } => Counter::OutcomeFailed,
            });
            tracing::debug!(%job, attempt = number, %state, "an attempt came home");
        }
        Finished::Moved => {
            shop.metrics.count(Counter::OutcomeFailed);
            shop.metrics.count(Counter::FailoversMoved);
            tracing::info!(%job, attempt = number, "the job goes on at another provider");
        }
        Finished::Discarded => {
            shop.metrics.count(Counter::ResultsDiscarded);
            tracing::info!(%job, attempt = number, "a late result was discarded and kept for audit");
        }
        Finished::NotFound => {}
    }
}

/// How often a write is tried that the database refuses for a reason of its own.
const MOST_REFUSALS: u32 = 5;

/// Tries until the database takes it: what a provider answered exists nowhere else. Gives up when the process stops,
/// or the database can be reached and refuses for good; then the lease lapses, and the attempt is found as unknown.
async fn persist<T, F: Future<Output = Result<T, StoreError>>>(
    shop: &Shop,
    job: Uuid,
    mut write: impl FnMut() -> F,
) -> Option<T> {
    let mut pause = Duration::from_millis(50);
    let mut refusals = 0;
    let rules = &shop.store.rules;
    loop {
        let asked = tokio::time::Instant::now();
        let written = write().await;
        // Longer than a request waits for a row.
        if written.is_err() || asked.elapsed() >= shop.config.lock_timeout {
            rules.reach.met(Occasion::RowHeld);
        }
        match written {
            Ok(value) => return Some(value),
            Err(error) if !rules.waits_for_rows => {
                tracing::error!(%job, %error, "not written");
                return None;
            }
            Err(error) => {
                shop.metrics.count(Counter::DatabaseErrors);
                tracing::warn!(%job, %error, "not written yet");
                refusals += u32::from(error.is_refusal());
                if refusals > MOST_REFUSALS {
                    tracing::error!(%job, %error, "given up; the job will show as unknown");
                    return None;
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(Duration::from_secs(2)),
            () = shop.stop.reached(Phase::Stopping) => return None,
        }
    }
}
