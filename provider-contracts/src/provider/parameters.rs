//! Parameters that a provider rejects, ignores or takes elsewhere.

use serde_json::Value;

use super::Provider;
use super::placeholder::get;
use crate::contract::DeterminismMode;
use crate::dialect::Dialect;
use crate::verdict::{Code, Finding, Note, Verdict};

/// Looks at the parameters as they would be sent.
#[must_use]
pub fn lint_parameters(
    provider: &Provider,
    dialect: &Dialect,
    body: &Value,
    determinism: DeterminismMode,
) -> (Vec<Finding>, Vec<Note>) {
    let mut findings = Vec::new();
    let mut notes = Vec::new();
    for rejected in &dialect.reject {
        if get(body, &rejected.path).is_none() {
            continue;
        }
        let message = format!("`{}` is in the request: {}", rejected.path, rejected.because);
        let code = Code::from_text(&rejected.code);
        // A field that is taken and ignored would look like success, so it blocks; one that is an error fails.
        let verdict =
            if rejected.code == "misplaced_parameter" { Verdict::Block(code) } else { Verdict::Fail(code) };
        findings.push(Finding::at_rest(verdict, message).at(&rejected.path));
    }
    for rule in dialect.rules_for(&provider.model) {
        for (name, why) in &rule.rejects {
            if provider.parameters.contains_key(name) {
                findings.push(unsupported(name, "param_not_allowed", why, DeterminismMode::Unchecked));
            }
        }
        for (name, why) in &rule.ignores {
            if !provider.parameters.contains_key(name) {
                continue;
            }
            if determinism == DeterminismMode::Unsupported {
                notes.push(Note::new("param_ignored", format!("`{name}` has no effect: {why}")));
            } else {
                findings.push(unsupported(name, "param_unsupported", why, determinism));
            }
        }
    }
    (findings, notes)
}

fn unsupported(name: &str, code: &'static str, why: &str, determinism: DeterminismMode) -> Finding {
    let sampling = matches!(name, "temperature" | "top_p" | "seed");
    if sampling {
        let way_out = if code == "param_unsupported" || determinism != DeterminismMode::Unsupported {
            "take it out, and declare determinism as unsupported"
        } else {
            "take it out"
        };
        let code = Code::with("param_unsupported", name);
        return Finding::at_rest(Verdict::Block(code), format!("`{name}`: {why}; {way_out}")).at(name);
    }
    Finding::at_rest(Verdict::Fail(Code::new(code)), format!("`{name}`: {why}")).at(name)
}
