//! The verdict on one answer.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use super::canonical::Answer;
use super::content::{json_in, read_content};
use super::finish::{Ending, ending};
use super::tokens::{TokenExpectation, contradiction};
use crate::contract::{Case, Contract, Expectation, ExtraKeys};
use crate::dialect::{Dialect, FinishClass, Selector};
use crate::rule::RuleOutcome;
use crate::schema::Checker;
use crate::tokenizer::estimate;
use crate::verdict::{Code, Note, Verdict};

/// A contract, made ready to judge answers.
pub struct Judge<'a> {
    contract: Cow<'a, Contract>,
    checker: Option<Checker>,
    schema_tokens: u64,
}

/// Facts about a call that rules may read as `meta`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Meta {
    /// The case.
    pub case: String,
    /// The provider, by its name in the providers file.
    pub provider: String,
    /// The model that answered, if it says.
    pub model: Option<String>,
    /// The finish value.
    pub finish: Option<String>,
    /// Milliseconds from sending to the last byte.
    pub latency_ms: u64,
    /// Prompt tokens as reported.
    pub input_tokens: Option<u64>,
    /// Output tokens as reported.
    pub output_tokens: Option<u64>,
}

/// The verdict on one answer, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// What the gate counts.
    pub verdict: Verdict,
    /// What it would be for a consumer that strips fences, when that differs.
    pub recovered: Option<Verdict>,
    /// What broke, in a sentence.
    pub message: String,
    /// Everything else that broke.
    pub more: Vec<String>,
    /// Notes.
    pub notes: Vec<Note>,
    /// The output, if there is one.
    pub output: Option<Value>,
}

impl Judgement {
    /// A verdict with its reason and nothing else.
    #[must_use]
    pub fn bare(verdict: Verdict, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { verdict, recovered: None, message, more: Vec::new(), notes: Vec::new(), output: None }
    }
}

impl Judge<'static> {
    /// The same for somebody who keeps it.
    ///
    /// # Errors
    /// What is wrong with the schema.
    pub fn owning(contract: Contract) -> Result<Self, String> {
        Self::of(Cow::Owned(contract))
    }

    /// The contract that it judges by.
    #[must_use]
    pub fn contract(&self) -> &Contract {
        &self.contract
    }
}

impl<'a> Judge<'a> {
    /// Compiles the contract's schema.
    ///
    /// # Errors
    /// What is wrong with the schema.
    pub fn new(contract: &'a Contract) -> Result<Self, String> {
        Self::of(Cow::Borrowed(contract))
    }

    fn of(contract: Cow<'a, Contract>) -> Result<Self, String> {
        let checker = contract.schema.as_ref().map(Checker::new).transpose()?;
        let schema_tokens = contract.schema.as_ref().map_or(0, |schema| estimate(&schema.to_string()));
        Ok(Self { contract, checker, schema_tokens })
    }

    /// What the contract's schema adds to a prompt, about.
    pub(crate) fn schema_tokens(&self) -> u64 {
        self.schema_tokens
    }

    /// Judges an answer to `case`. `primary` is what the primary answered, where that is known.
    #[must_use]
    pub fn judge(
        &self,
        dialect: &Dialect,
        case: &Case,
        answer: &Answer,
        meta: &Meta,
        expected: &TokenExpectation,
        primary: Option<&Value>,
    ) -> Judgement {
        let output = &self.contract.spec.output;
        let class = answer.finish.as_ref().and_then(|finish| dialect.finish.get(finish));
        let truncated = class == Some(&FinishClass::Truncated);
        let end = ending(dialect, answer, &output.finish_aliases, output.from_tool_call);
        let stops = matches!(&end, Ending::Decides(verdict, _) if !truncated || verdict.code().is_none_or(|code| code.as_str() != "truncated"));
        if !stops && let Some((verdict, message)) = contradiction(expected, answer, truncated) {
            return Judgement::bare(verdict, message);
        }
        match end {
            Ending::Decides(verdict, message) => self.with_hint(Judgement::bare(verdict, message), answer),
            Ending::Taints(verdict, message) => {
                let mut judged = self.content(case, answer, meta, primary);
                let content = std::mem::replace(&mut judged.verdict, verdict);
                let note = format!("the content by itself: {content}");
                judged.notes.push(Note::new("content_scored", note));
                judged.message = message;
                judged
            }
            Ending::Open => self.content(case, answer, meta, primary),
        }
    }

    fn with_hint(&self, mut judged: Judgement, answer: &Answer) -> Judgement {
        if self.checker.is_some()
            && answer.text.as_deref().unwrap_or_default().is_empty()
            && json_in(answer.reasoning.as_deref())
        {
            judged.notes.push(json_in_reasoning());
        }
        judged
    }

    fn content(&self, case: &Case, answer: &Answer, meta: &Meta, primary: Option<&Value>) -> Judgement {
        let spec = &self.contract.spec.output;
        let text = if spec.from_tool_call { answer.tool_calls.first() } else { answer.text.as_ref() };
        let content = read_content(text.map_or("", String::as_str), spec.extract);
        let mut judged = Judgement {
            verdict: content.verdict,
            recovered: None,
            message: content.message,
            more: Vec::new(),
            notes: content.notes,
            output: None,
        };
        if judged.verdict == Verdict::fail("empty_content") && json_in(answer.reasoning.as_deref()) {
            judged.notes.push(json_in_reasoning());
        }
        if let Some(value) = content.recovered {
            let mut inner = Judgement::bare(Verdict::Pass, "");
            self.value(case, value, meta, primary, &mut inner);
            judged.recovered = Some(inner.verdict);
        }
        if let Some(value) = content.value {
            self.value(case, value, meta, primary, &mut judged);
        }
        judged
    }

    /// Schema, expectations and rules, in this order; the first that breaks gives the verdict.
    fn value(
        &self,
        case: &Case,
        mut output: Value,
        meta: &Meta,
        primary: Option<&Value>,
        judged: &mut Judgement,
    ) {
        let spec = &self.contract.spec.output;
        if let Some(members) = output.as_object_mut() {
            for name in spec
                .null_equals_missing
                .iter()
                .filter(|name| !members.contains_key(*name))
                .collect::<Vec<_>>()
            {
                members.insert(name.clone(), Value::Null);
                judged
                    .notes
                    .push(Note::new("null_equals_missing", format!("`{name}` is absent and reads as null")));
            }
        }
        let mut broken: Vec<(Code, String)> = Vec::new();
        if let Some(checker) = &self.checker {
            let violations = checker.violations(&output, spec.extra_keys == ExtraKeys::Forbid);
            broken.extend(
                violations
                    .into_iter()
                    .map(|one| (one.code, format!("{}: {}", place(&one.place), one.message))),
            );
        }
        // Meaning is looked at only where the shape holds: the rest would be noise.
        if broken.is_empty() {
            broken.extend(case.expect.iter().filter_map(|expectation| unmet(expectation, &output)));
            broken.extend(self.rules(case, &output, meta, primary));
        }
        let mut reasons = broken.into_iter();
        if let Some((code, message)) = reasons.next() {
            judged.verdict = Verdict::Fail(code);
            judged.message = message;
        }
        judged.more = reasons.map(|(code, message)| format!("{code}: {message}")).collect();
        judged.output = Some(output);
    }

    fn rules(
        &self,
        case: &Case,
        output: &Value,
        meta: &Meta,
        primary: Option<&Value>,
    ) -> Vec<(Code, String)> {
        if self.contract.spec.rule.is_empty() {
            return Vec::new();
        }
        let meta = json!(meta);
        let mut variables = vec![("input", &case.input), ("output", output), ("meta", &meta)];
        if let Some(primary) = primary {
            variables.push(("primary", primary));
        }
        let mut broken = Vec::new();
        for rule in &self.contract.spec.rule {
            // Without a primary there is nothing to compare with yet; the parity stage asks again.
            if primary.is_none() && rule.cel.reads("primary") {
                continue;
            }
            match rule.cel.decide(&variables) {
                RuleOutcome::Holds => {}
                RuleOutcome::Broken => {
                    let code =
                        rule.code.as_deref().map_or_else(|| Code::with("rule", &rule.name), Code::from_text);
                    broken.push((code, format!("rule `{}` is false: {}", rule.name, rule.cel.source())));
                }
                RuleOutcome::Error(problem) => {
                    let message = format!("rule `{}` can't be decided: {problem}", rule.name);
                    broken.push((Code::with("rule_error", &rule.name), message));
                }
            }
        }
        broken
    }
}

fn json_in_reasoning() -> Note {
    Note::new("json_in_reasoning", "the text is empty and the JSON is in the reasoning channel")
}

fn place(pointer: &str) -> &str {
    if pointer.is_empty() { "/" } else { pointer }
}

fn unmet(expectation: &Expectation, output: &Value) -> Option<(Code, String)> {
    let found = expectation.select.first(output).filter(|node| !node.is_null());
    let place = expectation.select.as_str();
    if expectation.absent {
        let value = found?;
        return Some((
            Code::new("fabricated_value"),
            format!("{place} is {value}, and the input has nothing there"),
        ));
    }
    let Some(value) = found else {
        return Some((
            Code::new("null_when_present"),
            format!("{place} is null or absent, and the input has it"),
        ));
    };
    match &expectation.equals {
        Some(wanted) if !equal(wanted, value, expectation.tolerance) => {
            Some((Code::new("value_mismatch"), format!("{place} is {value}, expected {wanted}")))
        }
        _ => None,
    }
}

/// Equal, or two numbers no further apart than `tolerance`. Integers are compared as integers.
pub(crate) fn equal(a: &Value, b: &Value, tolerance: f64) -> bool {
    if let (Some(x), Some(y)) = (a.as_i64(), b.as_i64()) {
        return x == y || (tolerance > 0.0 && super::tokens::float(x.abs_diff(y)) <= tolerance);
    }
    match (a.as_f64(), b.as_f64()) {
        (Some(x), Some(y)) => (x - y).abs() <= tolerance,
        _ => a == b,
    }
}

/// The values at `select`, as one value: null when there is none, a list when there are several.
pub(crate) fn selected(select: &Selector, output: &Value) -> Value {
    let nodes = select.all(output);
    match nodes.as_slice() {
        [] => Value::Null,
        [one] => (*one).clone(),
        many => Value::Array(many.iter().map(|node| (*node).clone()).collect()),
    }
}
