//! The provider double: an address, distinct names, and places in a call.

use std::{collections::BTreeSet, net::SocketAddr};

use super::{
    super::{TargetFile, pointer::Locator},
    finding::Findings,
};
use crate::fail::Code;

pub(super) fn check(file: &TargetFile, findings: &mut Findings) {
    let Some(provider) = &file.provider else { return };
    let path = |key: &str| ["provider".into(), key.into()];
    if provider.listen.parse::<SocketAddr>().is_err() {
        let message = format!("`{}` is no address to listen on", provider.listen);
        let help = "write address and port, like `127.0.0.1:0`; port 0 takes a free one";
        findings.add(Code::TargetProvider, path("listen"), message, help);
    }
    if provider.names.is_empty() {
        let message = "`names` is empty: there is no provider to stand in for";
        findings.add(Code::TargetProvider, path("names"), message, "name one, or take [provider] out");
    }
    let mut seen = BTreeSet::new();
    for (index, name) in provider.names.iter().enumerate() {
        let at = ["provider".into(), "names".into(), index.into()];
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || !name.chars().all(plain) {
            let message = format!("`{name}` can't be a provider's name");
            findings.add(Code::TargetProvider, at, message, "use letters, digits, hyphens and underscores");
        } else if !seen.insert(name) {
            let message = format!("two providers are named `{name}`");
            findings.add(Code::TargetProvider, at, message, "give each its own name");
        }
    }
    for (key, place) in [("identity", &provider.identity), ("attempt", &provider.attempt)] {
        let Some(place) = place else { continue };
        let wrong = match Locator::parse(place) {
            Ok(Locator::Status) => Some("a call has no status".to_owned()),
            Ok(_) => None,
            Err(wrong) => Some(wrong.to_string()),
        };
        if let Some(wrong) = wrong {
            let help = "write `header:NAME`, or a JSON Pointer into the call's body like `/client_reference`";
            findings.add(Code::TargetProvider, path(key), wrong, help);
        }
    }
}
