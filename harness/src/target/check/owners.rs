//! Owners: distinct names, and something that authenticates each.

use std::collections::BTreeSet;

use super::{super::TargetFile, finding::Findings};
use crate::fail::Code;

pub(super) fn check(file: &TargetFile, findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for (index, owner) in file.owner.iter().enumerate() {
        let path = |key: &str| ["owner".into(), index.into(), key.into()];
        if owner.name.is_empty()
            || owner.name.contains(['.', '{', '}'])
            || owner.name.contains(char::is_whitespace)
        {
            let message = format!("`{}` can't be an owner's name", owner.name);
            let help = "use letters, digits, hyphens and underscores";
            findings.add(Code::TargetOwner, path("name"), message, help);
        }
        if owner.name == "nobody" {
            let message = "`nobody` is who sends no credentials";
            findings.add(Code::TargetOwner, path("name"), message, "give the owner another name");
        }
        if !seen.insert(&owner.name) {
            let message = format!("two owners are named `{}`", owner.name);
            findings.add(Code::TargetOwner, path("name"), message, "give each its own name");
        }
        if owner.token.is_none() && owner.headers.values().any(|value| value.contains("{token}")) {
            let message = format!("the headers of `{}` want a token, and it has none", owner.name);
            findings.add(Code::TargetOwner, path("headers"), message, "add `token = \"${NAME}\"`");
        }
        if owner.headers.is_empty() && file.owner.len() > 1 {
            let message = format!("nothing tells `{}` from the other owners", owner.name);
            let help = "add `headers = { authorization = \"Bearer {token}\" }`, or whatever authenticates it";
            findings.add(Code::TargetOwner, ["owner".into(), index.into()], message, help);
        }
    }
}
