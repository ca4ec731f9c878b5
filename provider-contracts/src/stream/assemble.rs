//! Events into an answer.

use serde_json::Value;

use super::{Frame, frames};
use crate::answer::{Answer, StreamEnd, Usage};
use crate::dialect::{Selector, StreamShape};

/// Puts the events of a stream together. `cut` says why the connection ended early, if it did.
#[must_use]
pub fn assemble(shape: &StreamShape, bytes: &[u8], cut: Option<&str>) -> Answer {
    let mut state = State::default();
    for frame in frames(shape.framing, bytes) {
        state.take(shape, frame);
    }
    state.finish(shape, cut)
}

#[derive(Default)]
struct State {
    answer: Answer,
    starts: u32,
    done: bool,
    ended: bool,
    damage: Option<String>,
    arguments: String,
}

impl State {
    fn take(&mut self, shape: &StreamShape, frame: Frame) {
        match frame {
            Frame::Text(text) => {
                if shape.done.as_deref() == Some(text.trim()) {
                    self.done = true;
                } else {
                    self.damage =
                        Some(format!("an event is no JSON: {}", text.chars().take(80).collect::<String>()));
                }
            }
            Frame::Damaged(why) => self.damage = Some(why),
            Frame::Json(event) => self.event(shape, &Value::Array(vec![event])),
        }
    }

    fn event(&mut self, shape: &StreamShape, event: &Value) {
        let found = |selectors: &[Selector]| {
            selectors.iter().any(|selector| selector.all(event).iter().any(|node| !node.is_null()))
        };
        if found(&shape.start) {
            self.starts += 1;
        }
        append(&mut self.answer.text, &shape.text, event);
        append(&mut self.answer.refusal, &shape.refusal, event);
        append(&mut self.answer.reasoning, &shape.reasoning, event);
        let mut piece = None;
        append(&mut piece, &shape.tool_arguments, event);
        self.arguments.push_str(piece.as_deref().unwrap_or_default());
        replace(&mut self.answer.finish, &shape.finish, event);
        replace(&mut self.answer.blocked, &shape.blocked, event);
        replace(&mut self.answer.model, &shape.model, event);
        replace(&mut self.answer.in_band_error, &shape.error, event);
        let usage = crate::answer::usage_of(&shape.usage, event);
        let Usage { input, output, total } = &mut self.answer.usage;
        *input = usage.input.or(*input);
        *output = usage.output.or(*output);
        *total = usage.total.or(*total);
        self.ended |= found(&shape.end);
    }

    fn finish(mut self, shape: &StreamShape, cut: Option<&str>) -> Answer {
        if !self.arguments.is_empty() {
            self.answer.tool_calls.push(self.arguments);
        }
        let marker = match (&shape.done, shape.end.is_empty()) {
            (Some(_), _) => self.done,
            (None, false) => self.ended,
            (None, true) => true,
        };
        let end = if self.starts > 1 {
            StreamEnd::Spliced
        } else if let Some(why) = self.damage {
            StreamEnd::Broken(why)
        } else if !marker && (self.answer.finish.is_none() || shape.done.is_none() || cut.is_some()) {
            StreamEnd::Broken(cut.unwrap_or("the end marker never came").to_owned())
        } else {
            StreamEnd::Complete
        };
        self.answer.refusal = self.answer.refusal.filter(|text| !text.is_empty());
        self.answer.stream = Some(end);
        self.answer
    }
}

fn append(into: &mut Option<String>, selectors: &[Selector], event: &Value) {
    if let Some(piece) = crate::answer::joined_of(selectors, event) {
        into.get_or_insert_default().push_str(&piece);
    }
}

fn replace(into: &mut Option<String>, selectors: &[Selector], event: &Value) {
    if let Some(value) = crate::answer::first_text_of(selectors, event) {
        *into = Some(value);
    }
}
