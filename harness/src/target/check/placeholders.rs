//! Placeholders: each must stand for something where it is used.

use serde_json::Value;

use super::{
    super::{TargetFile, values::OF_REQUESTS},
    finding::{Findings, Part},
    requests::{lists, operations, path},
};
use crate::{
    fail::Code,
    scenario::{document::nearest, placeholder::names},
};

pub(super) fn check(file: &TargetFile, findings: &mut Findings) {
    for (name, value) in &file.target.headers {
        known(&["target".into(), "headers".into(), name.as_str().into()], value, &[], findings);
    }
    for (name, operation) in operations(file) {
        let at: [Part; 2] = ["target".into(), name.into()];
        known(&path(&at, &["request"]), &operation.request, &OF_REQUESTS, findings);
        for (header, value) in &operation.headers {
            known(&path(&at, &["headers", header]), value, &OF_REQUESTS, findings);
        }
        if let Some(json) = &operation.json {
            in_json(&path(&at, &["json"]), json, findings);
        }
    }
    for (name, operation) in lists(file) {
        known(&["target".into(), name.into(), "request".into()], &operation.request, &["job"], findings);
    }
    if let Some(request) = file.target.effects.as_ref().and_then(|effects| effects.request.as_ref()) {
        known(&["target".into(), "effects".into(), "request".into()], request, &["key"], findings);
    }
    for (index, owner) in file.owner.iter().enumerate() {
        for (header, value) in &owner.headers {
            let at = ["owner".into(), index.into(), "headers".into(), header.as_str().into()];
            known(&at, value, &["token"], findings);
        }
    }
    command(file, findings);
    sends(file, findings);
}

fn command(file: &TargetFile, findings: &mut Findings) {
    let Some(command) = &file.target.command else { return };
    let mut there = vec!["onejob".to_owned(), "port".to_owned(), "database.url".to_owned()];
    there.extend(file.settings.keys().map(|name| format!("settings.{name}")));
    let providers = file.provider.iter().flat_map(|provider| &provider.names);
    there.extend(providers.map(|name| format!("provider.{name}.url")));
    if file.provider.as_ref().is_some_and(|provider| provider.callback_secret.is_some()) {
        there.push("provider.callback_secret".to_owned());
    }
    if file.failover.is_some() {
        there.extend(["contract", "providers", "attestations", "trust"].map(|one| format!("failover.{one}")));
    }
    let with_token = file.owner.iter().filter(|owner| owner.token.is_some());
    there.extend(with_token.map(|owner| format!("owner.{}.token", owner.name)));
    let there: Vec<_> = there.iter().map(String::as_str).collect();
    for (key, arguments) in [
        ("start", &command.start),
        ("migrate", &command.migrate),
        ("stop", &command.stop),
        ("kill", &command.kill),
    ] {
        for (index, argument) in arguments.iter().enumerate() {
            if key == "start" && argument == "{defects}" {
                continue;
            }
            known(&["target".into(), "command".into(), key.into(), index.into()], argument, &there, findings);
        }
    }
    for (name, value) in &command.env {
        known(
            &["target".into(), "command".into(), "env".into(), name.as_str().into()],
            value,
            &there,
            findings,
        );
    }
    if let Some(name) = file.settings.keys().find(|name| {
        let placeholder = format!("{{settings.{name}}}");
        !command.start.iter().chain(command.env.values()).any(|text| text.contains(&placeholder))
    }) {
        let message =
            format!("the setting `{name}` reaches nothing: the command never says `{{settings.{name}}}`");
        let help = "put it into `start` or `env`, or take it out";
        findings.add(Code::TargetPlaceholder, ["settings".into(), name.as_str().into()], message, help);
    }
}

/// A submit that sends neither key nor payload can't be the one that scenarios speak of.
fn sends(file: &TargetFile, findings: &mut Findings) {
    let creating = operations(file).into_iter().filter(|(name, _)| matches!(*name, "submit" | "race"));
    for (name, operation) in creating {
        let json = operation.json.as_ref().map(Value::to_string).unwrap_or_default();
        let texts = operation.headers.values().chain([&operation.request, &json]);
        let all: Vec<_> = texts.flat_map(|text| names(text)).collect();
        for (placeholder, what) in [("key", "the idempotency key"), ("payload", "the payload")] {
            let text = format!("{placeholder}.text");
            if !all.contains(&placeholder) && !all.contains(&text.as_str()) {
                let message = format!("[target.{name}] never sends {what}");
                let help = format!(
                    "put `{{{placeholder}}}` where the service expects it: a header, or a member of `json`"
                );
                findings.add(Code::TargetIncomplete, ["target".into(), name.into()], message, help);
            }
        }
    }
}

fn in_json(at: &[Part], json: &Value, findings: &mut Findings) {
    let below = |part: Part| at.iter().cloned().chain([part]).collect::<Vec<_>>();
    match json {
        Value::String(text) => known(at, text, &OF_REQUESTS, findings),
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                in_json(&below(index.into()), element, findings);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                in_json(&below(key.as_str().into()), member, findings);
            }
        }
        _ => {}
    }
}

fn known(at: &[Part], text: &str, there: &[&str], findings: &mut Findings) {
    for name in names(text).filter(|name| !there.contains(name)) {
        let help = match nearest(name, there.iter().copied()) {
            Some(meant) => format!("did you mean `{{{meant}}}`?"),
            None if there.is_empty() => "no placeholder stands for anything here".to_owned(),
            None => format!("there are: {}", there.join(", ")),
        };
        let message = format!("`{{{name}}}` stands for nothing here");
        findings.add(Code::TargetPlaceholder, at.to_vec(), message, help);
    }
}
