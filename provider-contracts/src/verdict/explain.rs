//! What each family of codes means, and what to do.

/// One or two sentences on a family: what is wrong, and what helps. `None` for a family that only a contract knows
/// (a rule's own code).
#[must_use]
pub fn explain(family: &str) -> Option<&'static str> {
    TABLE.iter().find(|(name, _)| *name == family).map(|(_, text)| *text)
}

const TABLE: &[(&str, &str)] = &[
    (
        "extra_top_level_key",
        "The answer has a key that the schema does not name. Say in the prompt that nothing may be added, use constrained decoding, or set `extra_keys = \"allow\"`.",
    ),
    (
        "schema",
        "The answer is JSON but not the shape that the consumer reads. The detail is the keyword of the original schema that broke.",
    ),
    (
        "missing",
        "A required key is absent. If the consumer reads absent and null alike, list it in `null_equals_missing`.",
    ),
    ("format", "A string has the right type and the wrong notation, such as a local date."),
    (
        "not_json",
        "The answer is prose. The structured-output request was dropped, or this model does not honour it.",
    ),
    (
        "prose_around",
        "JSON is in there, with other text around it. A consumer that takes the first fence takes the wrong one.",
    ),
    (
        "fenced",
        "The whole answer is a Markdown fence. Set `extract = \"fence\"` only if the consumer strips fences too.",
    ),
    ("invalid_json", "The text is almost JSON. The detail says which rule of the grammar broke."),
    ("invalid_unicode", "A lone surrogate: some parsers substitute it, some reject it."),
    ("duplicate_key", "Two equal keys in one object: parsers silently keep the last."),
    ("trailing_data", "Something follows the value, often a second object."),
    ("truncated", "The output limit ended the answer. Raise the limit or shorten the output."),
    (
        "empty_content",
        "200 with nothing in it. If a note says `json_in_reasoning`, the answer went to the reasoning channel.",
    ),
    ("value_mismatch", "The value is well formed and wrong: it differs from what the case expects."),
    ("fabricated_value", "The case has nothing to be found, and the model invented something."),
    ("null_when_present", "The case has the value and the model answered null."),
    ("rule", "A CEL rule of the contract answered false."),
    (
        "rule_error",
        "A CEL rule could not be decided: a missing key or a type that the operator does not know. Guard with has().",
    ),
    (
        "finish_mismatch",
        "The finish value contradicts the content, such as a tool call that ends with `stop`. A contract may list the alias.",
    ),
    ("finish_missing", "No finish value: nothing says that the answer is complete."),
    (
        "finish_unknown",
        "A finish value that the dialect does not know. Unknown never passes: add it to the dialect.",
    ),
    ("provider_filter", "The provider's content filter stepped in. The detail says on which side."),
    (
        "provider_rejected_output",
        "The provider threw its own model's output away. Deterministic: not retried.",
    ),
    ("provider_rejected", "The provider refuses the request itself. Deterministic: not retried."),
    ("wrong_surface", "This route cannot serve the model or the format, whatever the status code says."),
    ("auth", "The key is missing, wrong, or not allowed to use this model."),
    (
        "stream_truncated",
        "The stream ended without its end marker. The outcome of the call is unknown; the sample fails.",
    ),
    ("stream_spliced", "A second start inside one stream: two answers were joined."),
    ("duplicated_prefix", "The stream repeats its own beginning: a fallback restarted after the first byte."),
    ("upstream_in_band_error", "200 with an error inside. Never a pass, even if what came before parses."),
    ("param_dropped", "What was meant to be sent and what arrived upstream differ."),
    (
        "param_not_allowed",
        "This provider rejects the parameter. Take it out of the provider's parameters; overriding is not enough.",
    ),
    (
        "param_unsupported",
        "This model ignores or rejects the parameter. Declare `determinism = \"unsupported\"` or drop it.",
    ),
    ("misplaced_parameter", "The parameter belongs to another route of the same vendor and is ignored here."),
    (
        "schema_subset",
        "The provider's schema subset lacks a keyword: every call would be a 400. Change the schema or the provider's mode.",
    ),
    (
        "schema_rewrite_changed_language",
        "The schema that is sent forbids values that the consumer's schema allows, so the model has to invent.",
    ),
    ("template_rejects_roles", "The model's chat template refuses this order of roles."),
    ("system_position", "A system message may only come first here."),
    ("render_mismatch", "The server renders another prompt than the model's own template does."),
    (
        "truncation_untold",
        "The provider does not say that the output limit ended an answer: half an answer would pass for a whole one.",
    ),
    (
        "template_missing",
        "The model has no chat template: give the one that its server uses, so that it can be held against the vocabulary.",
    ),
    ("token_mismatch", "The server tokenizes the prompt differently than the model's own vocabulary does."),
    (
        "double_bos",
        "The beginning-of-sequence token is there twice: once from the template, once from the tokenizer.",
    ),
    ("missing_bos", "The beginning-of-sequence token is missing."),
    (
        "special_token_injection",
        "Text from the user becomes control tokens. Escape it or switch special parsing off.",
    ),
    (
        "injected_system",
        "The template adds a system prompt of its own. Send one, or set `allow_injected_system`.",
    ),
    ("system_dropped", "The template drops the system message without a word."),
    (
        "template_not_in_vocabulary",
        "The template's control words are ordinary text for this vocabulary: the model was not trained on them.",
    ),
    (
        "prompt_truncated",
        "The provider counted fewer prompt tokens than were sent, or a canary was not echoed: it cut the prompt.",
    ),
    ("window_smaller_than_declared", "The run ends at a window smaller than the declared one."),
    (
        "budget_unsafe",
        "The local estimate is too low against the provider's count. Declare the factor or use the provider's tokenizer.",
    ),
    (
        "over_budget_on_fallback",
        "Counted with this provider's own tokenizer, prompt and output do not fit its window.",
    ),
    (
        "needs_two_turns",
        "The job is a conversation and no case has two turns; some providers reject only the second.",
    ),
    ("unstable", "The same input gives different answers, although the contract asks for determinism."),
    ("disagrees", "The fallback's answers differ from the primary's on a field that must agree."),
    ("baseline_unstable", "The primary does not agree with itself, so nothing can be compared with it."),
    ("config", "The provider's settings are incomplete."),
    ("pass_rate", "Too few samples passed: the lower bound is below the bar."),
    ("refusal_rate", "The model declines too often."),
    ("latency", "Answers come later than the attempt's deadline allows."),
    ("needs_more_samples", "The bar cannot be reached with so few samples, whatever they say."),
    ("infrastructure", "Rate limits, overload or connection trouble stayed after the retries."),
    ("budget_exhausted", "The spend cap was reached before the samples were taken."),
    ("outcome_unknown", "Sent, and no answer that says what became of it. Never sent again on its own."),
    ("other_provider", "Another provider than the one under test produced the bytes."),
    ("model_changed", "The model that answered is not the model that was asked for."),
    ("usage_missing", "The provider reports no usage, and the contract's budget needs it."),
    ("tool_unexpected", "A tool call where the contract wants text."),
    ("model_error", "The provider says that its model produced something malformed."),
    ("incomplete", "The provider paused or has not finished: the answer is not an answer yet."),
    ("streaming_parity", "The streamed answer and the plain one differ in what they report."),
    ("error_shape", "A deliberate mistake was not answered in the dialect's error shape."),
];
