//! Stage S0: everything that can be known before a call is paid for.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{
    Ask, Outgoing, PromptFacts, Provider, Structured, build, dropped, lint_parameters, lint_roles,
    lint_tokens, prompt_facts,
};
use crate::contract::{Contract, Digests};
use crate::dialect::Dialect;
use crate::file::{FileError, read_text};
use crate::prompt::{ChatTemplate, Message, messages};
use crate::schema::{compare, lint_subset};
use crate::tokenizer::{self, Encoder, TokenizerError};
use crate::transport::RunId;
use crate::verdict::{Code, Finding, Note, Verdict};

/// What S0 found, and what later stages need.
#[derive(Debug, Default)]
pub struct StaticReport {
    /// What decides against the provider.
    pub findings: Vec<Finding>,
    /// What is worth knowing.
    pub notes: Vec<Note>,
    /// Each case's conversation.
    pub conversations: BTreeMap<String, Vec<Message>>,
    /// Each case's prompt, rendered and counted.
    pub facts: BTreeMap<String, PromptFacts>,
    /// The first case's request.
    pub request: Option<Outgoing>,
    /// The contract's digests, and those of this provider's template and tokenizer.
    pub digests: Digests,
}

impl StaticReport {
    fn block(&mut self, code: &'static str, message: impl Into<String>) {
        self.findings.push(Finding::at_rest(Verdict::block(code), message));
    }
}

/// Looks at a provider without calling it.
///
/// # Errors
/// When a file that the provider names can't be read.
pub fn static_check(
    contract: &Contract,
    provider: &Provider,
    dialect: &Dialect,
) -> Result<StaticReport, FileError> {
    let mut report = StaticReport { digests: Digests::of(contract), ..StaticReport::default() };
    let template = template(provider, &mut report)?;
    let encoder = encoder(provider, dialect, &mut report);
    for case in &contract.cases {
        let conversation = match messages(contract, case) {
            Ok(conversation) => conversation,
            Err(problem) => {
                report.block("prompt", problem.to_string());
                continue;
            }
        };
        // One finding of a kind is enough, whichever case shows it first.
        let first = report.conversations.is_empty();
        let reference = RunId::RECORDED.reference(&case.name, "0");
        let ask = Ask {
            contract: contract.name(),
            schema: contract.schema.as_ref(),
            messages: &conversation,
            input: &case.input,
            reference: &reference,
            stream: provider.stream,
        };
        match build(provider, dialect, &ask) {
            Ok(request) if first => {
                requested(contract, provider, dialect, (&request, &reference), &mut report)?;
            }
            Err(problem) if first => report.block("config", problem.to_string()),
            Ok(_) | Err(_) => {}
        }
        let facts = prompt_facts(provider, template.as_ref(), encoder.as_ref(), &conversation);
        let roles = lint_roles(dialect, template.as_ref(), &conversation);
        let (tokens, notes) =
            lint_tokens(provider, template.as_ref(), encoder.as_ref(), &conversation, &facts, first)?;
        // What the server made of a conversation that its template refuses says more than the refusal.
        let mismatch = tokens.iter().any(|finding| finding.verdict == Verdict::fail("render_mismatch"));
        for finding in roles.into_iter().filter(|_| !mismatch).chain(tokens) {
            if !report.findings.iter().any(|known| known.verdict == finding.verdict) {
                report.findings.push(finding.at(format!("case {}", case.name)));
            }
        }
        if first {
            report.notes.extend(notes);
        }
        report.facts.insert(case.name.clone(), facts);
        report.conversations.insert(case.name.clone(), conversation);
    }
    schema(contract, provider, dialect, &mut report)?;
    Ok(report)
}

/// The provider's own chat template, where it names one that has one.
///
/// # Errors
/// When the file can't be read.
pub(crate) fn load_template(provider: &Provider) -> Result<Option<ChatTemplate>, FileError> {
    provider.chat_template.as_ref().map_or(Ok(None), |path| ChatTemplate::load(&provider.file(path)))
}

fn template(provider: &Provider, report: &mut StaticReport) -> Result<Option<ChatTemplate>, FileError> {
    let Some(path) = &provider.chat_template else { return Ok(None) };
    let template = load_template(provider)?;
    match &template {
        Some(template) => report.digests.add("template", template.source().as_bytes()),
        None => report.block(
            "template_missing",
            format!("{} has no chat template: the server would fall back to one that the model was not trained on", path.display()),
        ),
    }
    Ok(template)
}

/// The provider's own vocabulary, where it names one or the dialect knows the model's.
///
/// # Errors
/// When it can't be used.
pub(crate) fn load_encoder(
    provider: &Provider,
    dialect: &Dialect,
) -> Result<Option<Arc<dyn Encoder>>, TokenizerError> {
    let known = dialect.rules_for(&provider.model).find_map(|rule| rule.tokenizer.clone());
    let Some(name) = provider.tokenizer.clone().or(known) else { return Ok(None) };
    tokenizer::load(&name, &provider.folder).map(Some)
}

fn encoder(provider: &Provider, dialect: &Dialect, report: &mut StaticReport) -> Option<Arc<dyn Encoder>> {
    match load_encoder(provider, dialect) {
        Ok(encoder) => {
            let encoder = encoder?;
            report.digests.add("tokenizer", encoder.identity());
            Some(encoder)
        }
        Err(problem) => {
            report.block("config", problem.to_string());
            None
        }
    }
}

fn requested(
    contract: &Contract,
    provider: &Provider,
    dialect: &Dialect,
    (request, reference): (&Outgoing, &str),
    report: &mut StaticReport,
) -> Result<(), FileError> {
    let (findings, notes) = lint_parameters(provider, dialect, &request.body, contract.spec.determinism.mode);
    report.findings.extend(findings);
    report.notes.extend(notes);
    if let Some(path) = &provider.captured_request {
        let path = provider.file(path);
        let text = read_text(&path)?;
        let captured: Value = serde_json::from_str(&text)
            .map_err(|error| FileError::json(&path.display().to_string(), &text, &error))?;
        // A gateway passes on another call's name when another call was captured.
        let named = |place: &String| {
            let value = request.body.pointer(place).and_then(Value::as_str);
            value.is_some_and(|value| value == reference) && captured.pointer(place).is_some()
        };
        let mut lost = dropped(&request.body, &captured);
        lost.retain(|place| !named(place));
        if let Some(first) = lost.first() {
            let message = format!("the request that arrived upstream lacks or changes {}", lost.join(", "));
            report.findings.push(Finding::at_rest(Verdict::block("param_dropped"), message).at(first));
        }
    }
    report.request = Some(request.clone());
    Ok(())
}

fn schema(
    contract: &Contract,
    provider: &Provider,
    dialect: &Dialect,
    report: &mut StaticReport,
) -> Result<(), FileError> {
    let Some(original) = &contract.schema else { return Ok(()) };
    let mut sent = original.clone();
    if let Some(path) = &provider.sent_schema {
        let path = provider.file(path);
        let text = read_text(&path)?;
        sent = serde_json::from_str(&text)
            .map_err(|error| FileError::json(&path.display().to_string(), &text, &error))?;
        let changes = compare(original, &sent);
        if let Some(change) = changes.iter().find(|change| change.forbidden) {
            let message =
                format!("the schema that is sent forbids {} and the original allows it", change.witness);
            let finding = Finding::at_rest(Verdict::block("schema_rewrite_changed_language"), message);
            report.findings.push(finding.at(&change.place));
        }
        for change in changes.iter().filter(|change| !change.forbidden) {
            let message = format!(
                "{}: the schema that is sent allows {}, the original does not",
                change.place, change.witness
            );
            report.notes.push(Note::new("unenforced_keywords", message));
        }
    }
    let uses_schema = match provider.structured {
        Structured::None | Structured::JsonObject => false,
        Structured::Best | Structured::JsonSchema => dialect.structured.json_schema.is_some(),
    };
    if uses_schema {
        let subset = lint_subset(&sent, &dialect.schema);
        if !subset.rejected.is_empty() {
            let all: Vec<String> =
                subset.rejected.iter().map(|(place, why)| format!("{place}: {why}")).collect();
            let message = format!(
                "{} answers every call with this schema with an error: {}",
                dialect.title,
                all.join("; ")
            );
            report
                .findings
                .push(Finding::at_rest(Verdict::block("schema_subset"), message).at(&subset.rejected[0].0));
        }
        for (place, keyword) in &subset.unenforced {
            let message = format!("{place}: {} takes `{keyword}` and does not enforce it", dialect.title);
            report.notes.push(Note::new("unenforced_keywords", message));
        }
    } else if let Some(word) = &dialect.structured.prompt_must_contain
        && provider.structured != Structured::None
        && !report
            .conversations
            .values()
            .flatten()
            .any(|message| message.content.to_lowercase().contains(word.as_str()))
    {
        let message =
            format!("{} wants the word `{word}` in the prompt before it answers in JSON mode", dialect.title);
        report.findings.push(Finding::at_rest(Verdict::Block(Code::new("config")), message));
    }
    Ok(())
}
