//! One call, with the retries that infrastructure faults deserve.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::ledger::Ledger;
use super::pace::{LONGEST, Pace, back_off};
use super::progress::Progress;
use crate::answer::{
    Answer, Judge, Judgement, Meta, ProviderError, TokenExpectation, Usage, read_answer, read_error,
};
use crate::contract::{Case, Contract};
use crate::dialect::{Dialect, ErrorClass};
use crate::prompt::Message;
use crate::provider::{Ask, Outgoing, PromptFacts, Provider, build};
use crate::stream::assemble;
use crate::tokenizer::estimate;
use crate::transport::{CallId, Exchange, Received, Transport, retry_after, should_retry};
use crate::verdict::{Code, Verdict};

/// Everything that the calls of a check share.
pub struct Caller<'a> {
    /// The contract.
    pub contract: &'a Contract,
    /// Who is asked.
    pub provider: &'a Provider,
    /// In which wire format.
    pub dialect: &'a Dialect,
    /// Judges answers.
    pub judge: &'a Judge<'a>,
    /// Carries requests.
    pub transport: Arc<dyn Transport>,
    /// Counts the cost.
    pub ledger: &'a Ledger,
    /// Waits when told to.
    pub pace: &'a Pace,
    /// Hears of waiting.
    pub progress: &'a dyn Progress,
}

/// What one sample came to.
#[derive(Clone, Debug)]
pub struct SampleResult {
    /// The case.
    pub case: String,
    /// Which sample.
    pub sample: String,
    /// The verdict and why.
    pub judgement: Judgement,
    /// How often it was sent.
    pub sends: u32,
    /// The provider whose bytes were judged.
    pub produced_by: String,
    /// The model that answered, if it says.
    pub model: Option<String>,
    /// Behind a gateway: who answered.
    pub served_by: Option<String>,
    /// The finish value.
    pub finish: Option<String>,
    /// Token counts.
    pub usage: Usage,
    /// From the last send to its last byte.
    pub latency: Duration,
    /// The request, for a report of a failure.
    pub request: Option<Outgoing>,
    /// The answer's start, as text.
    pub raw: String,
    /// The transport itself failed: the run can't go on.
    pub broken: Option<String>,
    /// The spend cap was reached before it could be sent.
    pub exhausted: bool,
}

enum Step {
    Done(Box<SampleResult>),
    Again(Box<SampleResult>, Option<Duration>),
}

impl Caller<'_> {
    /// Takes one sample of `case`.
    pub async fn sample(
        &self,
        case: &Case,
        conversation: &[Message],
        facts: &PromptFacts,
        sample: &str,
        stream: bool,
    ) -> SampleResult {
        let mut attempt = 0;
        loop {
            let mut result = self.blank(case, sample, attempt);
            let name = format!("{}-{sample}", case.name);
            let ask = Ask {
                contract: self.contract.name(),
                schema: self.contract.schema.as_ref(),
                messages: conversation,
                input: &case.input,
                sample: &name,
                stream,
            };
            let request = build(self.provider, self.dialect, &ask);
            let request = match request {
                Ok(request) => request,
                Err(problem) => {
                    result.judgement = Judgement::bare(Verdict::block("config"), problem.to_string());
                    return result;
                }
            };
            self.pace.ready().await;
            if let Err(exhausted) = self.ledger.reserve() {
                result.exhausted = true;
                result.judgement =
                    Judgement::bare(Verdict::inconclusive("budget_exhausted"), exhausted.to_string());
                return result;
            }
            result.sends = attempt + 1;
            let id = CallId {
                provider: self.provider.name.clone(),
                case: case.name.clone(),
                sample: sample.to_owned(),
                attempt,
            };
            let deadline = Duration::from_millis(self.contract.spec.latency.deadline_ms);
            let exchange = self.transport.send(&id, &request, deadline).await;
            match self.step(case, facts, request, exchange, result, stream) {
                Step::Done(result) => return *result,
                Step::Again(result, wait) => {
                    let wait = wait.unwrap_or_else(|| back_off(attempt));
                    if attempt >= self.contract.spec.samples.retries || wait > LONGEST {
                        return *result;
                    }
                    self.progress.waiting(wait, &result.judgement.message);
                    self.pace.hold(wait);
                    attempt += 1;
                }
            }
        }
    }

    fn blank(&self, case: &Case, sample: &str, attempt: u32) -> SampleResult {
        SampleResult {
            case: case.name.clone(),
            sample: sample.to_owned(),
            judgement: Judgement::bare(Verdict::inconclusive("infrastructure"), ""),
            sends: attempt,
            produced_by: self.provider.name.clone(),
            model: None,
            served_by: None,
            finish: None,
            usage: Usage::default(),
            latency: Duration::ZERO,
            request: None,
            raw: String::new(),
            broken: None,
            exhausted: false,
        }
    }

    fn step(
        &self,
        case: &Case,
        facts: &PromptFacts,
        request: Outgoing,
        exchange: Exchange,
        mut result: SampleResult,
        stream: bool,
    ) -> Step {
        result.request = Some(request);
        match exchange {
            Exchange::Broken(problem) => {
                result.judgement = Judgement::bare(Verdict::inconclusive("transport"), problem.clone());
                result.broken = Some(problem);
                Step::Done(Box::new(result))
            }
            Exchange::NeverSent(why) => {
                let message = format!("no connection, so nothing was sent: {why}");
                result.judgement = Judgement::bare(Verdict::inconclusive("infrastructure:connect"), message);
                Step::Again(Box::new(result), None)
            }
            Exchange::Unknown(why) => {
                let message = format!("sent, and the outcome is not known: {why}. Not sent again");
                result.judgement = Judgement::bare(Verdict::unknown("outcome_unknown"), message);
                Step::Done(Box::new(result))
            }
            Exchange::Answered(received) => {
                result.latency = received.elapsed;
                result.raw =
                    String::from_utf8_lossy(&received.body[..received.body.len().min(4096)]).into_owned();
                if (200..300).contains(&received.status) {
                    self.success(case, facts, &received, result, stream)
                } else {
                    self.error(&received, result)
                }
            }
        }
    }

    fn success(
        &self,
        case: &Case,
        facts: &PromptFacts,
        received: &Received,
        mut result: SampleResult,
        stream: bool,
    ) -> Step {
        let shape = self.dialect.stream.as_ref().filter(|_| stream);
        let answer = match shape {
            Some(shape) => assemble(shape, &received.body, received.cut.as_deref()),
            None => match self.whole(received) {
                Ok(answer) => answer,
                Err(judgement) => {
                    result.judgement = *judgement;
                    return Step::Done(Box::new(result));
                }
            },
        };
        result.model.clone_from(&answer.model);
        result.served_by.clone_from(&answer.served_by);
        result.finish.clone_from(&answer.finish);
        result.usage = answer.usage;
        self.ledger.book(&answer.usage);
        let meta = Meta {
            case: case.name.clone(),
            provider: self.provider.name.clone(),
            model: answer.model.clone(),
            finish: answer.finish.clone(),
            latency_ms: u64::try_from(received.elapsed.as_millis()).unwrap_or(u64::MAX),
            input_tokens: answer.usage.input,
            output_tokens: answer.usage.output,
        };
        result.judgement = self.judge.judge(self.dialect, case, &answer, &meta, &self.expected(facts), None);
        if let (Some(wanted), Some(served)) = (&self.provider.served_by, &answer.served_by)
            && wanted != served
        {
            let message = format!("{served} produced the answer, and {wanted} is under test");
            result.judgement = Judgement::bare(Verdict::fail("other_provider"), message);
        }
        match &result.judgement.verdict {
            Verdict::Inconclusive(_) => Step::Again(Box::new(result), None),
            _ => Step::Done(Box::new(result)),
        }
    }

    fn whole(&self, received: &Received) -> Result<Answer, Box<Judgement>> {
        if let Some(why) = &received.cut {
            let message = format!("the answer began and broke off: {why}");
            return Err(Box::new(Judgement::bare(Verdict::unknown("outcome_unknown"), message)));
        }
        let body: Value = serde_json::from_slice(&received.body).map_err(|error| {
            let message = format!("status {} with a body that is no JSON: {error}", received.status);
            Box::new(Judgement::bare(Verdict::fail("envelope"), message))
        })?;
        Ok(read_answer(self.dialect, &body))
    }

    fn error(&self, received: &Received, mut result: SampleResult) -> Step {
        let error = read_error(self.dialect, received.status, &received.headers, &received.body);
        result.judgement =
            Judgement::bare(verdict_on(&error), format!("status {}: {}", error.status, error.message));
        let told = should_retry(&self.dialect.retry, &received.headers);
        if error.class.is_retryable() && told != Some(false) {
            let now = jiff::Timestamp::now();
            let wait = retry_after(&self.dialect.retry, &received.headers, &received.body, now);
            return Step::Again(Box::new(result), wait);
        }
        Step::Done(Box::new(result))
    }

    fn expected(&self, facts: &PromptFacts) -> TokenExpectation {
        TokenExpectation {
            prompt: (facts.tokens > 0).then_some(facts.tokens),
            tolerance: self.provider.token_tolerance.unwrap_or(if facts.exact { 0.1 } else { 0.6 }),
            factor: self.provider.token_factor.unwrap_or(if facts.exact { 1.25 } else { 8.0 }),
            overhead: 64 + self.contract.schema.as_ref().map_or(0, |schema| estimate(&schema.to_string())),
            window: self.provider.window,
            max_output: self.provider.max_output(),
        }
    }
}

/// What an error decides about a sample.
fn verdict_on(error: &ProviderError) -> Verdict {
    match error.class {
        class if class.is_infrastructure() => {
            Verdict::Inconclusive(Code::with("infrastructure", class.as_str()))
        }
        ErrorClass::FilteredPrompt => Verdict::fail("provider_filter:prompt"),
        ErrorClass::RejectedOutput => Verdict::fail("provider_rejected_output"),
        ErrorClass::WrongSurface => Verdict::fail("wrong_surface"),
        ErrorClass::ContextOverflow => Verdict::fail("provider_rejected:context"),
        ErrorClass::Auth => Verdict::fail("auth"),
        _ => Verdict::fail("provider_rejected"),
    }
}
