//! The service's words for states.

use std::collections::BTreeMap;

use super::{super::TargetFile, finding::Findings, requests::operations};
use crate::fail::Code;

pub(super) fn check(file: &TargetFile, findings: &mut Findings) {
    let states = file.target.states.by_meaning();
    let mut seen = BTreeMap::new();
    for (state, words) in &states {
        for (index, word) in words.iter().enumerate() {
            let path = || ["target".into(), "states".into(), (*state).into(), index.into()];
            if word.is_empty() {
                findings.add(
                    Code::TargetStates,
                    path(),
                    "a state's word is empty",
                    "write the service's own word",
                );
            }
            if let Some(other) = seen.insert(word, *state) {
                let message = format!("\"{word}\" can't mean `{other}` and `{state}`");
                findings.add(
                    Code::TargetStates,
                    path(),
                    message,
                    "each of the service's words has one meaning",
                );
            }
        }
    }
    let reads_state = operations(file).iter().any(|(_, operation)| operation.reads.contains_key("state"));
    if reads_state && file.target.states.succeeded.is_empty() {
        let message = "no word means `succeeded`, so no job could ever be seen to succeed";
        let help = "add the service's own: `succeeded = [\"done\"]`";
        findings.add(Code::TargetStates, ["target".into(), "states".into()], message, help);
    }
}
