//! One call, with the retries that infrastructure faults deserve.

use std::sync::Arc;
use std::time::Duration;

use super::ledger::Ledger;
use super::pace::{LONGEST, Pace, back_off};
use super::progress::Progress;
use crate::answer::{Judge, Judgement, ProviderError, Usage, read_error};
use crate::attempt::{Read, Reader};
use crate::contract::{Case, Contract};
use crate::dialect::{Dialect, ErrorClass};
use crate::prompt::Message;
use crate::provider::{Ask, Outgoing, PromptFacts, Provider, build, output_limit};
use crate::transport::{CallId, Exchange, Received, RunId, Transport, retry_after, should_retry};
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
    /// What the calls are known by.
    pub run: RunId,
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
            let reference = self.run.reference(&case.name, sample);
            let ask = Ask {
                contract: self.contract.name(),
                schema: self.contract.schema.as_ref(),
                messages: conversation,
                input: &case.input,
                reference: &reference,
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
            let held = match self.ledger.reserve(self.most(&request, facts)).await {
                Ok(held) => held,
                Err(exhausted) => {
                    result.exhausted = true;
                    result.judgement =
                        Judgement::bare(Verdict::inconclusive("budget_exhausted"), exhausted.to_string());
                    return result;
                }
            };
            result.sends = attempt + 1;
            let id = CallId {
                provider: self.provider.name.clone(),
                case: case.name.clone(),
                sample: sample.to_owned(),
                attempt,
            };
            let deadline = Duration::from_millis(self.contract.spec.latency.deadline_ms);
            let exchange = self.transport.send(&id, &request, deadline).await;
            let known = outcome_is_known(&exchange);
            let step = self.step(case, facts, request, exchange, result, stream);
            let (Step::Done(told) | Step::Again(told, _)) = &step;
            match known {
                Known::Answered => held.home(&told.usage),
                Known::Free => held.free(),
                // What it may have taken stays spent.
                Known::Not => drop(held),
            }
            match step {
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

    /// What a call can take at most; nothing is known without a limit on its output.
    fn most(&self, request: &Outgoing, facts: &PromptFacts) -> Option<Usage> {
        let Caller { provider, dialect, judge, .. } = *self;
        let expected = Reader { provider, dialect, judge }.expected(facts);
        Some(Usage {
            input: Some(expected.most_input()),
            output: Some(output_limit(dialect, &request.body)?),
            total: None,
        })
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
        let Caller { provider, dialect, judge, .. } = *self;
        let Read { answer, judgement } =
            Reader { provider, dialect, judge }.read(case, facts, received, stream);
        result.judgement = judgement;
        let Some(answer) = answer else { return Step::Done(Box::new(result)) };
        result.usage = answer.usage;
        result.model = answer.model;
        result.served_by = answer.served_by;
        result.finish = answer.finish;
        match &result.judgement.verdict {
            Verdict::Inconclusive(_) => Step::Again(Box::new(result), None),
            _ => Step::Done(Box::new(result)),
        }
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
}

/// Whether it is known what a call took.
enum Known {
    Answered,
    Free,
    Not,
}

fn outcome_is_known(exchange: &Exchange) -> Known {
    match exchange {
        Exchange::Answered(received) if (200..300).contains(&received.status) && received.cut.is_none() => {
            Known::Answered
        }
        // An error is not billed, and neither is what was never sent or never recorded.
        Exchange::Answered(received) if !(200..300).contains(&received.status) => Known::Free,
        Exchange::NeverSent(_) | Exchange::Broken(_) => Known::Free,
        Exchange::Answered(_) | Exchange::Unknown(_) => Known::Not,
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
