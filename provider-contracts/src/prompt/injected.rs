//! What a template does with a system message, and without one.

use super::{ChatTemplate, Message};

/// What a template does with the system's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemEffect {
    /// Renders it when it is there, and nothing when it is not.
    Honest,
    /// Puts a text of its own where none was given.
    Injects(String),
    /// Leaves the system message out.
    Drops,
    /// Refuses system messages.
    Refuses,
}

/// A word that no template contains.
const MARK: &str = "\u{2}onejob-system-mark\u{2}";

/// Another one, for the user's message: a template that shows the first message, whoever wrote it, injects nothing.
const USER: &str = "\u{2}onejob-user-mark\u{2}";

/// Renders the same conversation with a marked system message and without one, and compares.
#[must_use]
pub fn system_effect(template: &ChatTemplate) -> SystemEffect {
    let user = Message::new("user", USER);
    let Ok(without) = template.render(std::slice::from_ref(&user)) else { return SystemEffect::Honest };
    let Ok(with) = template.render(&[Message::new("system", MARK), user]) else {
        return SystemEffect::Refuses;
    };
    let Some((before, after)) = with.split_once(MARK) else { return SystemEffect::Drops };
    // The same frame around something else: the template filled the place by itself.
    let framed = without.len() >= before.len() + after.len()
        && without.starts_with(before)
        && without.ends_with(after);
    if !framed {
        return SystemEffect::Honest;
    }
    let filled = without[before.len()..without.len() - after.len()].trim();
    if filled.contains(USER) {
        return SystemEffect::Honest;
    }
    if !filled.is_empty() {
        return SystemEffect::Injects(filled.to_owned());
    }
    // An empty place, but the frame itself may talk, as one that tells the model the date.
    let talk = before
        .split(['>', '|', '\n', ']'])
        .map(str::trim)
        .filter(|piece| piece.split_whitespace().count() >= 3);
    let talk: Vec<&str> = talk.collect();
    if talk.is_empty() { SystemEffect::Honest } else { SystemEffect::Injects(talk.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(source: &str) -> SystemEffect {
        system_effect(&ChatTemplate::new(source, "<s>", "</s>"))
    }

    const TURNS: &str = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n";

    #[test]
    fn a_plain_template_is_honest() {
        assert_eq!(effect(TURNS), SystemEffect::Honest);
    }

    #[test]
    fn a_default_system_prompt_is_found() {
        let source = "{% if messages[0]['role'] != 'system' %}<|im_start|>system\nYou are a helpful AI assistant.<|im_end|>\n{% endif %}"
            .to_owned()
            + TURNS;
        assert_eq!(effect(&source), SystemEffect::Injects("You are a helpful AI assistant.".into()));
    }

    #[test]
    fn a_dropped_system_message_is_found() {
        let source =
            "{% for m in messages %}{% if m.role != 'system' %}{{ m.content }}{% endif %}{% endfor %}";
        assert_eq!(effect(source), SystemEffect::Drops);
    }

    #[test]
    fn a_template_that_shows_the_first_message_injects_nothing() {
        assert_eq!(effect("<s>[INST]{{ messages[0].content }}[/INST]"), SystemEffect::Honest);
    }

    #[test]
    fn a_frame_that_talks_is_found() {
        let source = "<|start|>system\n\nCutting Knowledge Date: December 2023\n\n{% if messages[0].role == 'system' %}\
            {{ messages[0].content }}{% endif %}<|eot|>{% for m in messages %}{% if m.role != 'system' %}{{ m.content }}{% endif %}{% endfor %}";
        assert!(matches!(effect(source), SystemEffect::Injects(text) if text.contains("Knowledge Date")));
    }

    #[test]
    fn a_template_that_folds_the_system_message_into_the_users_turn_is_honest() {
        let source = "{% set s = '' %}{% if messages[0].role == 'system' %}{% set s = messages[0].content + '\n\n' %}{% endif %}\
            [INST] {{ s }}{{ messages[-1].content }}[/INST]";
        assert_eq!(effect(source), SystemEffect::Honest);
    }
}
