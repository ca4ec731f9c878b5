//! What the end of an answer says, before its content is looked at.

use super::canonical::{Answer, StreamEnd};
use crate::dialect::{Dialect, FinishClass};
use crate::verdict::{Code, Verdict};

/// What the end of an answer says.
pub(super) enum Ending {
    /// Decides the sample by itself.
    Decides(Verdict, String),
    /// Fails the sample, and the content is scored all the same for the report.
    Taints(Verdict, String),
    /// Leaves it to the content.
    Open,
}

/// Looks at the stream's end, errors in the band, the filter, the refusal and the finish value.
pub(super) fn ending(dialect: &Dialect, answer: &Answer, aliases: &[String], wants_tool: bool) -> Ending {
    use Ending::{Decides, Open, Taints};
    match &answer.stream {
        Some(StreamEnd::Broken(why)) => return broken(answer, why),
        Some(StreamEnd::Spliced) => {
            return Decides(
                Verdict::fail("stream_spliced"),
                "the stream starts a second time: two answers were joined".into(),
            );
        }
        Some(StreamEnd::Complete) | None => {}
    }
    if let Some(error) = &answer.in_band_error {
        let message = format!("an error inside an answer with status 200: {error}");
        return Decides(Verdict::inconclusive("upstream_in_band_error"), message);
    }
    if let Some(reason) = &answer.blocked {
        return Decides(Verdict::fail("provider_filter:prompt"), format!("the prompt was blocked: {reason}"));
    }
    if let Some(refusal) = &answer.refusal {
        return Decides(Verdict::Refused, format!("the model declined: {refusal}"));
    }
    if dialect.answer.finish_is_implied {
        return Open;
    }
    let Some(finish) = &answer.finish else {
        return Taints(
            Verdict::fail("finish_missing"),
            "no finish value: nothing says that the answer is complete".into(),
        );
    };
    let Some(class) = dialect.finish.get(finish) else {
        let message = format!("the dialect does not know the finish value `{finish}`");
        return Decides(Verdict::Fail(Code::with("finish_unknown", finish)), message);
    };
    let mut allowed = aliases.to_vec();
    if dialect.answer.tool_calls_end_ok {
        allowed.push(format!("{finish}+tool_calls"));
    }
    class_ending(*class, finish, answer, &allowed, wants_tool)
}

fn class_ending(
    class: FinishClass,
    finish: &str,
    answer: &Answer,
    aliases: &[String],
    wants_tool: bool,
) -> Ending {
    use Ending::{Decides, Open};
    let has_calls = !answer.tool_calls.is_empty();
    match class {
        FinishClass::Ok
            if has_calls && !aliases.iter().any(|alias| *alias == format!("{finish}+tool_calls")) =>
        {
            Decides(
                Verdict::fail("finish_mismatch"),
                format!(
                    "there are tool calls and the finish value is `{finish}`; list `{finish}+tool_calls` in finish_aliases if the consumer reads that"
                ),
            )
        }
        FinishClass::Tool if !has_calls => Decides(
            Verdict::fail("finish_mismatch"),
            format!("the finish value is `{finish}` and there is no tool call"),
        ),
        FinishClass::Ok | FinishClass::Tool if has_calls && !wants_tool => {
            Decides(Verdict::fail("tool_unexpected"), "a tool call where the contract reads text".into())
        }
        FinishClass::Ok | FinishClass::Tool => Open,
        FinishClass::Truncated => {
            Decides(Verdict::fail("truncated"), format!("the answer was cut off (`{finish}`)"))
        }
        FinishClass::Refused => Decides(Verdict::Refused, format!("the model declined (`{finish}`)")),
        FinishClass::Filtered => {
            Decides(Verdict::fail("provider_filter:output"), format!("a filter stepped in (`{finish}`)"))
        }
        FinishClass::Incomplete => {
            Decides(Verdict::fail("incomplete"), format!("`{finish}`: the answer is not finished"))
        }
        FinishClass::UpstreamError => Decides(
            Verdict::inconclusive("upstream_in_band_error"),
            format!("`{finish}` with status 200: what came before is no answer, even if it parses"),
        ),
        FinishClass::Failed => Decides(
            Verdict::Inconclusive(Code::with("in_band", &finish.to_lowercase())),
            format!("the provider says `{finish}` with status 200"),
        ),
        FinishClass::ModelError => Decides(
            Verdict::Fail(Code::with("model_error", finish)),
            format!("the provider says that its model went wrong (`{finish}`)"),
        ),
        FinishClass::Other => {
            Decides(Verdict::Fail(Code::with("finish", finish)), format!("`{finish}` is never an answer"))
        }
    }
}

fn broken(answer: &Answer, why: &str) -> Ending {
    if let Some(error) = &answer.in_band_error {
        let message = format!("an error after status 200: {error}");
        return Ending::Decides(Verdict::inconclusive("upstream_in_band_error"), message);
    }
    Ending::Decides(Verdict::fail("stream_truncated"), format!("the stream ended early: {why}"))
}
