//! From an answer with a success status to the verdict on it.

use serde_json::Value;

use crate::answer::{Answer, Judge, Judgement, Meta, TokenExpectation, read_answer};
use crate::contract::Case;
use crate::dialect::Dialect;
use crate::provider::{PromptFacts, Provider};
use crate::stream::assemble;
use crate::transport::Received;
use crate::verdict::Verdict;

/// Everything that it takes to read an answer.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) provider: &'a Provider,
    pub(crate) dialect: &'a Dialect,
    pub(crate) judge: &'a Judge<'a>,
}

/// What was read.
pub(crate) struct Read {
    /// The answer, unless it is none.
    pub(crate) answer: Option<Answer>,
    /// The verdict on it.
    pub(crate) judgement: Judgement,
}

impl Reader<'_> {
    /// Reads an answer to `case`, whose prompt is known by `facts`.
    pub(crate) fn read(&self, case: &Case, facts: &PromptFacts, received: &Received, stream: bool) -> Read {
        let shape = self.dialect.stream.as_ref().filter(|_| stream);
        let answer = match shape {
            Some(shape) => assemble(shape, &received.body, received.cut.as_deref()),
            None => match self.whole(received) {
                Ok(answer) => answer,
                Err(judgement) => return Read { answer: None, judgement: *judgement },
            },
        };
        let meta = Meta {
            case: case.name.clone(),
            provider: self.provider.name.clone(),
            model: answer.model.clone(),
            finish: answer.finish.clone(),
            latency_ms: u64::try_from(received.elapsed.as_millis()).unwrap_or(u64::MAX),
            input_tokens: answer.usage.input,
            output_tokens: answer.usage.output,
        };
        let expected = self.expected(facts);
        let mut judgement = self.judge.judge(self.dialect, case, &answer, &meta, &expected, None);
        if let (Some(wanted), Some(served)) = (&self.provider.served_by, &answer.served_by)
            && wanted != served
        {
            let message = format!("{served} produced the answer, and {wanted} is under test");
            judgement = Judgement::bare(Verdict::fail("other_provider"), message);
        }
        Read { answer: Some(answer), judgement }
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

    /// What is expected of a call in tokens.
    pub(crate) fn expected(&self, facts: &PromptFacts) -> TokenExpectation {
        TokenExpectation {
            prompt: (facts.tokens > 0).then_some(facts.tokens),
            tolerance: self.provider.token_tolerance.unwrap_or(if facts.exact { 0.1 } else { 0.6 }),
            factor: self.provider.token_factor.unwrap_or(if facts.exact { 1.25 } else { 8.0 }),
            overhead: 64 + self.judge.schema_tokens(),
            window: self.provider.window,
            max_output: self.provider.max_output(),
        }
    }
}
