//! The rendered prompt and its tokens.

use std::sync::Arc;

use super::Provider;
use crate::file::{FileError, read_text};
use crate::prompt::{ChatTemplate, Message, SystemEffect, TemplateError, system_effect};
use crate::tokenizer::{Encoder, estimate};
use crate::verdict::{Finding, Note, Verdict};

/// What is known of a prompt at a provider, before it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptFacts {
    /// The text that the model sees, by its own template.
    pub rendered: Option<String>,
    /// Its tokens.
    pub ids: Option<Vec<u32>>,
    /// How many tokens it has.
    pub tokens: u64,
    /// Whether the count is the provider's own vocabulary's, and not an estimate.
    pub exact: bool,
}

/// Renders and counts a conversation.
#[must_use]
pub fn prompt_facts(
    provider: &Provider,
    template: Option<&ChatTemplate>,
    encoder: Option<&Arc<dyn Encoder>>,
    messages: &[Message],
) -> PromptFacts {
    let rendered = template.and_then(|template| template.render(messages).ok());
    let plain: String =
        messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n");
    if let (Some(text), Some(encoder)) = (&rendered, encoder)
        && let Ok(ids) = encoder.encode(text, provider.adds_special_tokens)
    {
        return PromptFacts { tokens: ids.len() as u64, ids: Some(ids), rendered, exact: true };
    }
    match encoder.and_then(|encoder| encoder.count(&plain).ok()) {
        // Chat formats add a handful of tokens for each message.
        Some(count) => {
            PromptFacts { tokens: count + 4 * messages.len() as u64, ids: None, rendered, exact: true }
        }
        None => PromptFacts { tokens: estimate(&plain), ids: None, rendered, exact: false },
    }
}

/// Everything about template and tokens that can be known before a call. `served` says that this is the case whose
/// rendering and tokens the server gave.
///
/// # Errors
/// When a file that the provider names can't be read.
pub fn lint_tokens(
    provider: &Provider,
    template: Option<&ChatTemplate>,
    encoder: Option<&Arc<dyn Encoder>>,
    messages: &[Message],
    facts: &PromptFacts,
    served: bool,
) -> Result<(Vec<Finding>, Vec<Note>), FileError> {
    let mut findings = Vec::new();
    let mut notes = Vec::new();
    if let Some(path) = provider.rendered_prompt.as_ref().filter(|_| served) {
        let served = read_text(&provider.file(path))?;
        findings.extend(compare_rendering(template, messages, &served));
    }
    let mut ids = facts.ids.clone();
    if let Some(path) = provider.rendered_tokens.as_ref().filter(|_| served) {
        let path = provider.file(path);
        let text = read_text(&path)?;
        let served: Vec<u32> = serde_json::from_str(&text)
            .map_err(|error| FileError::json(&path.display().to_string(), &text, &error))?;
        ids = Some(served);
    }
    if let Some(template) = template {
        findings.extend(system(provider, template, messages));
        if let Some(encoder) = encoder {
            findings.extend(vocabulary(template, encoder, messages));
            findings.extend(ids.as_deref().and_then(|ids| bos(template, encoder, ids)));
        }
    }
    if served && provider.rendered_tokens.is_some() {
        findings.extend(compare_tokens(facts.ids.as_deref(), ids.as_deref()));
    }
    if let Some(encoder) = encoder {
        findings.extend(injection(provider, encoder, messages));
    } else if provider.window.is_some() {
        notes.push(Note::new(
            "tokens_estimated",
            "no tokenizer is given: tokens are estimated at four bytes each",
        ));
    }
    findings.extend(window(provider, facts));
    Ok((findings, notes))
}

fn compare_rendering(template: Option<&ChatTemplate>, messages: &[Message], served: &str) -> Option<Finding> {
    let message = match template?.render(messages) {
        Err(TemplateError::Raised(said) | TemplateError::Broken(said)) => {
            format!(
                "the model's own template refuses this conversation ({said}), and the server rendered it all the same"
            )
        }
        Ok(own) if own == served => return None,
        Ok(own) => {
            let at = own.bytes().zip(served.bytes()).take_while(|(a, b)| a == b).count();
            let around = |text: &str| {
                let mut from = at.saturating_sub(12).min(text.len());
                while !text.is_char_boundary(from) {
                    from -= 1;
                }
                format!("{:?}", text[from..].chars().take(48).collect::<String>())
            };
            format!("from byte {at} on the template says {} and the server {}", around(&own), around(served))
        }
    };
    Some(Finding::at_rest(Verdict::fail("render_mismatch"), message))
}

/// The server's ids against our own, where both are known.
fn compare_tokens(own: Option<&[u32]>, served: Option<&[u32]>) -> Option<Finding> {
    let (own, served) = (own?, served?);
    if own == served {
        return None;
    }
    let at = own.iter().zip(served).take_while(|(a, b)| a == b).count();
    let show = |ids: &[u32]| {
        ids[at.min(ids.len())..].iter().take(6).map(u32::to_string).collect::<Vec<_>>().join(", ")
    };
    let message = format!(
        "{} tokens here and {} at the server; from token {at} on here [{}] and there [{}]",
        own.len(),
        served.len(),
        show(own),
        show(served)
    );
    Some(Finding::at_rest(Verdict::fail("token_mismatch"), message))
}

fn system(provider: &Provider, template: &ChatTemplate, messages: &[Message]) -> Option<Finding> {
    let given = messages.iter().any(|message| message.role == "system");
    match system_effect(template) {
        SystemEffect::Injects(text) if !given && !provider.allow_injected_system => Some(Finding::at_rest(
            Verdict::fail("injected_system"),
            format!(
                "without a system message the template adds one of its own: {text:?}. Send one, or set allow_injected_system"
            ),
        )),
        SystemEffect::Drops if given => Some(Finding::at_rest(
            Verdict::fail("system_dropped"),
            "the template leaves the system message out without a word",
        )),
        _ => None,
    }
}

/// Words of the template that look like control tokens must be single tokens of this vocabulary.
fn vocabulary(template: &ChatTemplate, encoder: &Arc<dyn Encoder>, messages: &[Message]) -> Option<Finding> {
    let rendered = template.render(messages).ok()?;
    let content: String = messages.iter().map(|message| message.content.as_str()).collect();
    let mut strangers: Vec<&str> = control_words(&rendered)
        .into_iter()
        .filter(|word| !content.contains(word) && encoder.id_of(word).is_none())
        .collect();
    strangers.sort_unstable();
    strangers.dedup();
    if strangers.is_empty() {
        return None;
    }
    let message = format!(
        "{} of the template {} no token of this vocabulary but ordinary text: the model was not trained on this template",
        strangers.join(", "),
        if strangers.len() == 1 { "is" } else { "are" }
    );
    Some(Finding::at_rest(Verdict::block("template_not_in_vocabulary"), message))
}

/// `<|…|>`, `<start_of_turn>` and `[INST]` in a rendering.
fn control_words(rendered: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (open, close) in [("<", '>'), ("[", ']')] {
        for (at, _) in rendered.match_indices(open) {
            let Some(length) = rendered[at..].find(close) else { continue };
            let word = &rendered[at..=at + length];
            let inner = &word[1..word.len() - 1];
            let shaped = match open {
                "<" => {
                    (inner.starts_with('|') && inner.ends_with('|') && inner.len() > 2)
                        || inner.ends_with("_of_turn")
                }
                _ => matches!(inner, "INST" | "/INST" | "SYSTEM_PROMPT" | "/SYSTEM_PROMPT"),
            };
            if shaped && !inner.contains(char::is_whitespace) {
                words.push(word);
            }
        }
    }
    words
}

fn bos(template: &ChatTemplate, encoder: &Arc<dyn Encoder>, ids: &[u32]) -> Option<Finding> {
    if template.bos().is_empty()
        || !template.source().contains("bos_token") && !template.source().contains(template.bos())
    {
        return None;
    }
    let bos = encoder.id_of(template.bos())?;
    let there = ids.iter().take_while(|id| **id == bos).count();
    match there {
        1 => None,
        0 => Some(Finding::at_rest(
            Verdict::fail("missing_bos"),
            format!(
                "the prompt starts with token {} and not with {} ({bos})",
                ids.first().copied().unwrap_or(0),
                template.bos()
            ),
        )),
        _ => Some(Finding::at_rest(
            Verdict::fail("double_bos"),
            format!(
                "{} ({bos}) stands {there} times at the beginning: the template writes it and the tokenizer adds it",
                template.bos()
            ),
        )),
    }
}

fn injection(provider: &Provider, encoder: &Arc<dyn Encoder>, messages: &[Message]) -> Option<Finding> {
    if !provider.self_hosted {
        return None;
    }
    for message in messages.iter().filter(|message| message.role == "user") {
        let ids = encoder.encode(&message.content, false).unwrap_or_default();
        let control: Vec<String> =
            ids.iter().filter(|id| encoder.is_control(**id)).map(u32::to_string).collect();
        if !control.is_empty() {
            let text = format!(
                "text from the user becomes the control tokens {}: it can end its turn and speak as somebody else",
                control.join(", ")
            );
            return Some(Finding::at_rest(Verdict::fail("special_token_injection"), text));
        }
    }
    None
}

fn window(provider: &Provider, facts: &PromptFacts) -> Option<Finding> {
    let window = provider.window?;
    let factor = if facts.exact { 1.0 } else { provider.token_factor.unwrap_or(1.5) };
    let prompt = crate::answer::float_of(facts.tokens) * factor;
    let needed = prompt + crate::answer::float_of(provider.max_output().unwrap_or(0));
    if needed <= crate::answer::float_of(window) {
        return None;
    }
    let message = format!(
        "{}{} prompt tokens and {} for the output do not fit the window of {window}, counted for this provider",
        if facts.exact { "" } else { "an estimated " },
        facts.tokens,
        provider.max_output().unwrap_or(0),
    );
    Some(Finding::at_rest(Verdict::block("over_budget_on_fallback"), message))
}
