//! Writes a scenario as a person would: what is not said is left out, one line for what belongs together, and a comment
//! where a reader would ask.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::scenario::{Scenario, Step, Verb};

/// The file without comments.
#[must_use]
pub fn plain(scenario: &Scenario) -> String {
    page(scenario, &[], false)
}

/// The file with these lines of comment at its head, and a remark before each step.
#[must_use]
pub fn commented(scenario: &Scenario, head: &[String]) -> String {
    page(scenario, head, true)
}

fn page(scenario: &Scenario, head: &[String], remarks: bool) -> String {
    let mut out = String::new();
    for line in head {
        out.push_str(format!("# {line}").trim_end());
        out.push('\n');
    }
    // Strings, numbers and switches can always be written.
    let mut value = serde_json::to_value(scenario).unwrap_or_default();
    if scenario.rounds == 1
        && let Some(fields) = value.as_object_mut()
    {
        fields.remove("rounds");
    }
    let Value::Object(fields) = pruned(value) else { return out };
    for (name, value) in fields.iter().filter(|(_, value)| !is_section(value)) {
        line(&mut out, name, value);
    }
    for (name, value) in &fields {
        match value {
            Value::Object(section) => {
                heading(&mut out, &format!("[{name}]"));
                for (key, value) in section {
                    line(&mut out, key, value);
                }
            }
            Value::Array(entries) if is_section(value) => {
                for (index, entry) in entries.iter().enumerate() {
                    let remark = (remarks && name == "step").then(|| remark(&scenario.step[index])).flatten();
                    let remark = remark.map(|remark| format!("  # {remark}")).unwrap_or_default();
                    heading(&mut out, &format!("[[{name}]]{remark}"));
                    for (key, value) in entry.as_object().into_iter().flatten() {
                        line(&mut out, key, value);
                    }
                }
            }
            _ => {}
        }
    }
    out
}

fn is_section(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(entries) => entries.first().is_some_and(Value::is_object),
        _ => false,
    }
}

fn heading(out: &mut String, text: &str) {
    // Writing to a String can't fail.
    let _ = writeln!(out, "\n{text}");
}

fn line(out: &mut String, name: &str, value: &Value) {
    let _ = writeln!(out, "{} = {}", key(name), inline(value));
}

/// Without what the reader of the file takes for granted.
fn pruned(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept =
                fields.into_iter().map(|(name, value)| (name, pruned(value))).filter(|(name, value)| {
                    // An answer that must not be refused says something; a switch that is off doesn't.
                    let means = matches!(name.as_str(), "refused" | "replayed") && value.is_boolean();
                    means || !is_nothing(value)
                });
            Value::Object(kept.collect::<Map<_, _>>())
        }
        Value::Array(entries) => Value::Array(entries.into_iter().map(pruned).collect()),
        other => other,
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(entries) => entries.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { text(name) }
}

fn text(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(words) => text(words),
        Value::Array(entries) => {
            format!("[{}]", entries.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let pairs: Vec<_> =
                fields.iter().map(|(name, value)| format!("{} = {}", key(name), inline(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        other => other.to_string(),
    }
}

/// What a step is about, where the fields alone don't say it.
fn remark(step: &Step) -> Option<String> {
    let times = step.times.unwrap_or(1);
    let stale = || step.with.signature.is_some();
    Some(match step.act {
        Verb::Submit if step.with.body_raw.is_some() => "a request that can't be read".to_owned(),
        Verb::Submit if step.together => format!("{times} requests at the same moment"),
        Verb::Submit if step.id.as_deref().is_some_and(|id| id.starts_with("again")) => {
            "the same intent once more".to_owned()
        }
        Verb::Submit if step.id.as_deref().is_some_and(|id| id.starts_with("conflict")) => {
            "the same key, and something else".to_owned()
        }
        Verb::Submit if step.id.as_deref().is_some_and(|id| id.starts_with("twin")) => {
            "nearly the same key, and another intent".to_owned()
        }
        Verb::Submit if step.id.as_deref().is_some_and(|id| id.starts_with("respelled")) => {
            "the same payload in other bytes".to_owned()
        }
        Verb::Submit if step.id.as_deref().is_some_and(|id| id.starts_with("ambiguous")) => {
            "two readers would not agree on this payload".to_owned()
        }
        Verb::Read if step.until.is_some() => {
            format!("wait until it is {}", step.until.map_or("", crate::scenario::Until::word))
        }
        Verb::CancelAttempt => "an operator gives the attempt up".to_owned(),
        Verb::Deliver if stale() => "a callback that the provider did not send now".to_owned(),
        Verb::Release => "the provider's answer comes home".to_owned(),
        Verb::Fault if step.fault.as_deref() == Some("crash") => "killed, and started again".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{embedded, load_str};

    #[test]
    fn the_whole_suite_reads_back_as_what_was_written() {
        for file in embedded().expect("the suite") {
            for cell in file.cells().expect("cells") {
                let mut scenario = cell.scenario;
                // A cell stands at one point of its matrix: what spans it has no place in a file of its own.
                scenario.matrix.clear();
                scenario.without.clear();
                scenario.derive.clear();
                scenario.invariants.alike = None;
                scenario.step.iter_mut().for_each(|step| step.when.clear());
                let page = commented(&scenario, &["a head".to_owned()]);
                let Ok(back) = load_str("again", &page).and_then(|file| file.cells()) else {
                    // Its meaning hung on what was taken out.
                    continue;
                };
                assert_eq!(back[0].scenario, scenario, "{page}");
            }
        }
    }
}
