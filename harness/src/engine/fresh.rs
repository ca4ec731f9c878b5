//! Values that are new in every round: keys that no earlier run used, and payloads that can be recognised.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{scenario::Scenario, target::Form};

/// The fresh values of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fresh {
    /// Key names to the values sent.
    pub keys: BTreeMap<String, String>,
    /// Payload names to their markers.
    pub markers: BTreeMap<String, String>,
    /// The moment that scheduled jobs count from: the same for every request of the round.
    pub began: jiff::Timestamp,
}

impl Fresh {
    /// Makes them from what identifies the round; the same identity gives the same values.
    #[must_use]
    pub(super) fn of(run: &str, cell: &str, round: u32, scenario: &Scenario, form: Form) -> Self {
        let stem = hex(&format!("{run}\0{cell}\0{round}"));
        let steps = || scenario.step.iter().map(|step| &step.with);
        let keys = steps()
            .filter_map(|with| with.key.as_ref())
            .map(|name| (name.clone(), key(&stem, name, form)))
            .collect();
        let markers = steps()
            .filter_map(|with| with.payload.as_ref())
            .map(|name| (name.clone(), format!("ojm-{}-{name}.", hex(&format!("{stem}\0payload")))))
            .collect();
        Self { keys, markers, began: jiff::Timestamp::now() }
    }

    /// The payload's JSON: an object, so that services that want one are content, with the marker as text.
    #[must_use]
    pub(super) fn payload(&self, name: &str) -> Value {
        json!({ "text": self.markers.get(name) })
    }
}

fn key(stem: &str, name: &str, form: Form) -> String {
    match form {
        Form::VisibleAscii => format!("oj-{stem}-{name}"),
        Form::Uuid => {
            let digest = Sha256::digest(format!("{stem}\0{name}"));
            let bytes: [u8; 16] = std::array::from_fn(|at| digest[at]);
            uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
        }
    }
}

fn hex(text: &str) -> String {
    use std::fmt::Write as _;
    Sha256::digest(text.as_bytes()).iter().take(6).fold(String::new(), |mut out, byte| {
        // Writing to a String can't fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_marker_is_the_beginning_of_another() {
        let text = r#"
            id = "x"
            title = "t"
            why = "w"
            [[step]]
            do = "submit"
            with = { key = "K", payload = "P1" }
            [[step]]
            do = "submit"
            with = { key = "K", payload = "P11" }
        "#;
        let scenario: Scenario = toml::from_str(text).expect("a scenario");
        let fresh = Fresh::of("run", "cell", 1, &scenario, Form::VisibleAscii);
        assert!(!fresh.markers["P11"].contains(&fresh.markers["P1"]));
        assert_ne!(fresh.keys, Fresh::of("run", "cell", 2, &scenario, Form::VisibleAscii).keys);
        assert_ne!(fresh.keys, Fresh::of("another run", "cell", 1, &scenario, Form::VisibleAscii).keys);
        let uuids = Fresh::of("run", "cell", 1, &scenario, Form::Uuid).keys;
        assert_eq!(uuid::Uuid::parse_str(&uuids["K"]).expect("a UUID").get_version_num(), 4);
    }
}
