//! Names: the scenario's own, its steps', its calls', its tags.

use std::collections::BTreeMap;

use super::{super::Scenario, finding::Findings};
use crate::fail::Code;

/// File systems take names of 255 bytes, and a cell's name holds its values beside the id.
const LONGEST_ID: usize = 100;
/// How a call is named that no rule takes.
const RESERVED: [&str; 1] = ["more"];

pub(super) fn check(scenario: &Scenario, findings: &mut Findings) {
    if !is_kebab(&scenario.id) {
        let message = format!("the id `{}` is not in kebab-case", scenario.id);
        let help = "use lower-case letters and digits with single hyphens, like `double-click`";
        findings.add(Code::ScenarioName, &["id".into()], message, help);
    }
    if scenario.id.len() > LONGEST_ID {
        let message = format!("the id has {} characters", scenario.id.len());
        let help = format!("it names files and lines of reports: take {LONGEST_ID} at most");
        findings.add(Code::ScenarioName, &["id".into()], message, help);
    }
    for (key, words) in [("tags", &scenario.tags), ("kills", &scenario.kills), ("covers", &scenario.covers)] {
        for (index, word) in words.iter().enumerate() {
            let fine = is_kebab(word) || key == "covers" && is_row(word);
            if !fine {
                let message = format!("`{word}` in `{key}` is not in kebab-case");
                let help = match key {
                    "covers" => "write a row of the scenario catalogue, S01 to S40, or a name in kebab-case",
                    _ => "use lower-case letters and digits with single hyphens",
                };
                findings.add(Code::ScenarioName, &[key.into(), index.into()], message, help);
            }
        }
    }
    for (key, text) in [("title", &scenario.title), ("why", &scenario.why)] {
        if text.trim().is_empty() {
            findings.add(
                Code::ScenarioName,
                &[key.into()],
                format!("`{key}` is empty"),
                "say it in a sentence",
            );
        }
    }
    steps(scenario, findings);
    calls(scenario, findings);
}

fn steps(scenario: &Scenario, findings: &mut Findings) {
    let mut seen = BTreeMap::new();
    for (index, step) in scenario.step.iter().enumerate() {
        let Some(id) = &step.id else { continue };
        let path = ["step".into(), index.into(), "id".into()];
        if !is_word(id) {
            let message = format!("the step's id `{id}` can't be referred to");
            let help =
                "use letters, digits, hyphens and underscores; `.n` is added for one of several requests";
            findings.add(Code::ScenarioName, &path, message, help);
        }
        if seen.insert(id, index).is_some() {
            let message = format!("two steps have the id `{id}`");
            findings.add(
                Code::ScenarioName,
                &path,
                message,
                "give each its own: steps and reports refer to it",
            );
        }
    }
}

fn calls(scenario: &Scenario, findings: &mut Findings) {
    let mut seen = BTreeMap::new();
    for (index, rule) in scenario.provider.iter().enumerate() {
        let path = ["provider".into(), index.into(), "call".into()];
        if !is_word(&rule.call) || RESERVED.contains(&rule.call.as_str()) {
            let message = format!("`{}` can't be the name of a call", rule.call);
            let help =
                "use letters, digits, hyphens and underscores; `more` names the calls that no rule takes";
            findings.add(Code::ScenarioName, &path, message, help);
        }
        if seen.insert(&rule.call, index).is_some() {
            let message = format!("two rules are called `{}`", rule.call);
            let help = "give each its own name, or write one rule with `times`";
            findings.add(Code::ScenarioName, &path, message, help);
        }
    }
}

fn is_kebab(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.split('-').all(|part| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

fn is_row(text: &str) -> bool {
    let number =
        text.strip_prefix('S').filter(|rest| rest.len() == 2 && rest.bytes().all(|b| b.is_ascii_digit()));
    number.and_then(|digits| digits.parse().ok()).is_some_and(|row: u8| (1..=40).contains(&row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kebab_case_is_strict() {
        for good in ["a", "double-click", "s3-2"] {
            assert!(is_kebab(good), "{good}");
        }
        for bad in ["", "-a", "a-", "a--b", "A", "a_b", "1a", "ä"] {
            assert!(!is_kebab(bad), "{bad}");
        }
    }

    #[test]
    fn the_catalogue_has_forty_rows() {
        assert!(is_row("S01") && is_row("S40"));
        for bad in ["S00", "S41", "S1", "S001", "s01", "S-1", "S+1"] {
            assert!(!is_row(bad), "{bad}");
        }
    }
}
