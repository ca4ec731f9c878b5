//! A contract at a provider, ready to be asked for real.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::outcome::{of_answer, of_error};
use super::{Outcome, Reader};
use crate::answer::Judge;
use crate::contract::{Case, Contract};
use crate::dialect::Dialect;
use crate::file::FileError;
use crate::prompt::{ChatTemplate, Message, messages};
use crate::provider::{
    Ask, Outgoing, PromptFacts, Provider, build, lint_roles, lint_tokens, load_encoder, load_template,
    prompt_facts, static_check,
};
use crate::tokenizer::Encoder;
use crate::transport::{CallId, Exchange, Http, HttpError, Transport};
use crate::verdict::{Finding, Verdict};

/// Asks a provider for what a contract says, one attempt at a time.
pub struct Asker {
    judge: Judge<'static>,
    provider: Provider,
    dialect: Arc<Dialect>,
    template: Option<ChatTemplate>,
    encoder: Option<Arc<dyn Encoder>>,
    http: Http,
    findings: Vec<Finding>,
}

/// One attempt at a job.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// What the prompt's templates see as `input`.
    pub input: &'a Value,
    /// What the job is known by, the same for every attempt.
    pub reference: &'a str,
    /// Further headers, such as a trace; they win over a provider's own.
    pub headers: &'a [(&'a str, String)],
}

/// A contract can't be asked of a provider.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// A file can't be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is no way to send.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// No request can be made.
    #[error("contract `{contract}` can't be asked of provider `{provider}`: {reason}")]
    Request {
        /// The contract.
        contract: String,
        /// The provider.
        provider: String,
        /// Why.
        reason: String,
    },
}

impl Asker {
    /// Makes ready: schema and templates are compiled, the key is taken from the environment.
    ///
    /// # Errors
    /// When no request could ever be made.
    pub fn new(contract: Contract, provider: Provider, dialect: Arc<Dialect>) -> Result<Self, AskError> {
        let http = Http::for_provider(&provider, dialect.request.sign.is_some())?;
        let report = static_check(&contract, &provider, &dialect)?;
        let (asked, of) = (contract.name().to_owned(), provider.name.clone());
        let impossible = |reason: String| AskError::Request { contract: asked, provider: of, reason };
        if report.request.is_none() {
            let reason = report.findings.first().map_or("it has no case", |finding| finding.message.as_str());
            return Err(impossible(reason.to_owned()));
        }
        if contract.spec.prompt.conversation {
            return Err(impossible("it is about a conversation, and a job is one prompt".to_owned()));
        }
        let template = load_template(&provider)?;
        let encoder = load_encoder(&provider, &dialect).ok().flatten();
        let judge = Judge::owning(contract).map_err(impossible)?;
        Ok(Self { judge, provider, dialect, template, encoder, http, findings: report.findings })
    }

    /// What a check would hold against the provider before it calls.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Carries one attempt out. Sends once at most, and waits for the whole answer, `deadline` at most.
    pub async fn ask(&self, work: Work<'_>, deadline: Duration) -> Outcome {
        let case =
            Case { name: "job".to_owned(), input: work.input.clone(), turns: Vec::new(), expect: Vec::new() };
        let (request, facts) = match self.request(&case, work) {
            Ok(ready) => ready,
            Err(withheld) => return withheld,
        };
        let id = CallId {
            provider: self.provider.name.clone(),
            case: case.name.clone(),
            sample: work.reference.to_owned(),
            attempt: 0,
        };
        let exchange = self.http.send(&id, &request, deadline).await;
        self.read(&case, &facts, exchange)
    }

    /// The request, or why none is made.
    fn request(&self, case: &Case, work: Work<'_>) -> Result<(Outgoing, PromptFacts), Outcome> {
        let contract = self.judge.contract();
        let withheld = |verdict, message| Outcome::Withheld { verdict, message };
        let conversation = messages(contract, case)
            .map_err(|problem| withheld(Verdict::block("prompt"), problem.to_string()))?;
        let facts =
            prompt_facts(&self.provider, self.template.as_ref(), self.encoder.as_ref(), &conversation);
        if let Some(finding) = self.lint(&conversation, &facts) {
            return Err(withheld(finding.verdict, finding.message));
        }
        let ask = Ask {
            contract: contract.name(),
            schema: contract.schema.as_ref(),
            messages: &conversation,
            input: &case.input,
            reference: work.reference,
            stream: self.provider.stream,
        };
        let mut request = build(&self.provider, &self.dialect, &ask)
            .map_err(|problem| withheld(Verdict::block("config"), problem.to_string()))?;
        for (name, value) in work.headers {
            request.headers.retain(|(present, _)| present != name);
            request.headers.push(((*name).to_owned(), value.clone()));
        }
        Ok((request, facts))
    }

    /// What stage S0 says to this very prompt: the next input may be the one that does not fit.
    fn lint(&self, conversation: &[Message], facts: &PromptFacts) -> Option<Finding> {
        let (template, encoder) = (self.template.as_ref(), self.encoder.as_ref());
        lint_roles(&self.dialect, template, conversation).or_else(|| {
            let tokens = lint_tokens(&self.provider, template, encoder, conversation, facts, false);
            // Only the server's own rendering of a case is read from files, and that is not asked for.
            tokens.ok().and_then(|(findings, _)| findings.into_iter().next())
        })
    }

    fn read(&self, case: &Case, facts: &PromptFacts, exchange: Exchange) -> Outcome {
        let received = match exchange {
            Exchange::Answered(received) => received,
            // What breaks here is the request, before it is sent: a header that can't be written, a signature.
            Exchange::NeverSent(why) | Exchange::Broken(why) => return Outcome::NeverSent(why),
            Exchange::Unknown(why) => return Outcome::Unknown(why),
        };
        if !(200..300).contains(&received.status) {
            if let Some(why) = &received.cut {
                return Outcome::Unknown(format!(
                    "status {}, and the rest broke off: {why}",
                    received.status
                ));
            }
            return of_error(&self.dialect, &received, Timestamp::now());
        }
        let reader = Reader { provider: &self.provider, dialect: &self.dialect, judge: &self.judge };
        of_answer(received.status, reader.read(case, facts, &received, self.provider.stream))
    }
}

impl std::fmt::Debug for Asker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asker")
            .field("contract", &self.judge.contract().name())
            .field("provider", &self.provider.name)
            .finish_non_exhaustive()
    }
}
