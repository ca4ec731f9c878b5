//! A whole body into an answer.

use serde_json::Value;

use super::canonical::{Answer, Usage, as_text};
use crate::dialect::{AnswerShape, Dialect, Selector, UsageShape};

/// Reads a body with a success status.
#[must_use]
pub fn read_answer(dialect: &Dialect, body: &Value) -> Answer {
    let shape = &dialect.answer;
    let first = |selectors: &[Selector]| first_text(selectors, body);
    let finish = first(&shape.finish).or_else(|| shape.finish_is_implied.then(|| "complete".to_owned()));
    Answer {
        text: joined(&shape.text, body),
        refusal: joined(&shape.refusal, body).filter(|text| !text.is_empty()),
        reasoning: joined(&shape.reasoning, body).filter(|text| !text.is_empty()),
        tool_calls: tool_calls(shape, body),
        finish,
        blocked: first(&shape.blocked),
        in_band_error: first(&shape.in_band_error),
        model: first(&shape.model),
        served_by: first(&shape.served_by),
        usage: usage(&shape.usage, body),
        stream: None,
    }
}

/// The first node that is not null, as text.
pub(crate) fn first_text(selectors: &[Selector], body: &Value) -> Option<String> {
    crate::dialect::first_of(selectors, body).map(as_text)
}

/// All nodes of the first selector that finds any, put together. Parts that are containers are no text when there
/// are several: `content` as a list of chunks has its own selector.
pub(crate) fn joined(selectors: &[Selector], body: &Value) -> Option<String> {
    selectors.iter().find_map(|selector| {
        let nodes: Vec<&Value> = selector.all(body).into_iter().filter(|node| !node.is_null()).collect();
        (!nodes.is_empty()).then(|| nodes.into_iter().map(as_text).collect())
    })
}

pub(crate) fn usage(shape: &UsageShape, body: &Value) -> Usage {
    let count = |selectors: &[Selector]| {
        let number = crate::dialect::first_of(selectors, body)?;
        number.as_u64()
    };
    Usage { input: count(&shape.input), output: count(&shape.output), total: count(&shape.total) }
}

fn tool_calls(shape: &AnswerShape, body: &Value) -> Vec<String> {
    let calls =
        shape.tool_calls.iter().flat_map(|selector| selector.all(body)).filter(|call| !call.is_null());
    calls.map(|call| first_text(&shape.tool_arguments, call).unwrap_or_else(|| "{}".to_owned())).collect()
}
