//! Turns a step into requests: whose, about which job, with which values.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{fresh::Fresh, world::World};
use crate::{
    fail::{Code, Fault},
    gate::{Client, Prepared},
    history::RequestId,
    scenario::{Span, Step, Verb, Way, With},
    target::{Operation, Owner, TargetFile, Values, overlay, render},
};

/// Who asks, where a target file has no owners.
const ANYONE: &str = "anyone";

/// A request that is ready to be sent.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    /// Number within the cell.
    pub id: RequestId,
    /// `STEP` or `STEP.n`.
    pub step: String,
    /// The verb's word.
    pub verb: &'static str,
    /// Name of the owner.
    pub owner: String,
    /// Name of the key.
    pub key: Option<String>,
    /// Name of the payload.
    pub payload: Option<String>,
    /// The job that it is about.
    pub job: Option<String>,
    /// Which replica gets it, from 1.
    pub replica: u32,
    /// How to reach that replica.
    pub client: Client,
    /// The bytes.
    pub prepared: Prepared,
    /// How its answer is read.
    pub operation: Operation,
}

/// What a request is about.
#[derive(Debug, Clone, Default)]
pub(super) struct About {
    /// The job's id.
    pub job: Option<String>,
    /// The version for a precondition.
    pub version: Option<String>,
}

/// The operation of the target file that carries out a verb.
pub(super) fn operation(world: &World, verb: Verb, with: &With) -> Result<Operation, Fault> {
    let target = &world.target.target;
    let found = match verb {
        Verb::Submit if with.race => target.race.as_ref().map(|race| overlay(&target.submit, race)),
        Verb::Submit if with.through == Some(Way::Schedule) => {
            target.schedule.as_ref().map(|schedule| overlay(&target.submit, schedule))
        }
        // A batch has its keys in its body: nothing of the plain submit fits.
        Verb::Submit if with.through == Some(Way::Batch) => target.batch.clone(),
        Verb::Submit => Some(target.submit.clone()),
        Verb::Read => target.read.clone(),
        Verb::Lookup => target.lookup.clone(),
        Verb::Retry => target.retry.clone(),
        Verb::Cancel => target.cancel.clone(),
        Verb::CancelAttempt => target.cancel_attempt.clone(),
        Verb::Resolve => target.resolve.clone(),
        Verb::Deliver => target.callback.clone(),
        Verb::Await | Verb::Release | Verb::Fault | Verb::Heal => None,
    };
    found.ok_or_else(|| {
        Fault::new(
            Code::Bug,
            format!("a step `{}` was planned for a target that has no such operation", verb.word()),
            "please report this with the scenario and the target file",
        )
    })
}

/// Makes the `number`-th request of a step; 0 where the step sends only one.
pub(super) async fn prepare(
    world: &World,
    fresh: &Fresh,
    step: (&str, &Step),
    number: u32,
    about: &About,
) -> Result<Outgoing, Fault> {
    let (name, step) = step;
    let with = &step.with;
    let operation = operation(world, step.act, with)?;
    let owner =
        if with.owner.as_deref() == Some("nobody") { None } else { world.owner(with.owner.as_deref()) };
    let (client, replica) = world.client(with.replica).await?;
    let values = values(fresh, with, about);
    let mut rendered = render(&operation, &values)?;
    if let Some(query) = &with.query {
        rendered.path.push(if rendered.path.contains('?') { '&' } else { '?' });
        rendered.path.push_str(query);
    }
    if let Some(text) = raw_payload(fresh, with) {
        // The text goes in after rendering: JSON that is to be sent as written must not be parsed on the way.
        let body = String::from_utf8_lossy(rendered.body.as_deref().unwrap_or_default());
        rendered.body = Some(body.replace(&format!("\"{RAW}\""), &text).into_bytes());
    }
    if let Some(body) = &with.body_raw {
        let payload = with.payload.as_ref().map(|name| fresh.payload(name).to_string()).unwrap_or_default();
        rendered.body = Some(body.replace("{payload}", &payload).into_bytes());
    }
    let mut headers = headers_of(&world.target, owner);
    if with.key_lines.is_empty() {
        headers.extend(rendered.headers);
    } else {
        let keyed = |header: &str| {
            operation.headers.iter().any(|(n, v)| n.eq_ignore_ascii_case(header) && v.contains("{key}"))
        };
        for (header, value) in rendered.headers {
            if keyed(&header) {
                headers.extend(with.key_lines.iter().map(|line| (header.clone(), filled(line, fresh, with))));
            } else {
                headers.push((header, value));
            }
        }
    }
    Ok(Outgoing {
        id: world.request_id(),
        step: if number == 0 { name.to_owned() } else { format!("{name}.{number}") },
        verb: step.act.word(),
        owner: with
            .owner
            .clone()
            .or_else(|| owner.map(|owner| owner.name.clone()))
            .unwrap_or_else(|| ANYONE.to_owned()),
        key: with.key.clone(),
        payload: with.payload.clone(),
        job: about.job.clone(),
        replica,
        client,
        prepared: Prepared {
            method: rendered.method,
            path: rendered.path,
            headers,
            body: rendered.body.unwrap_or_default(),
        },
        operation,
    })
}

/// Stands where a payload's text goes until the body is rendered.
const RAW: &str = "onejob-raw-payload-goes-here";

/// The payload as a text, for services that take nothing else: its marker, or what the scenario writes in its place.
fn payload_text(fresh: &Fresh, with: &With) -> Option<String> {
    let marker = || with.payload.as_ref().and_then(|name| fresh.markers.get(name)).cloned();
    raw_payload(fresh, with).or_else(marker)
}

fn raw_payload(fresh: &Fresh, with: &With) -> Option<String> {
    let text = with.payload_text.as_ref()?;
    let marker = with.payload.as_ref().and_then(|name| fresh.markers.get(name)).cloned().unwrap_or_default();
    Some(text.replace("{marker}", &marker))
}

fn filled(template: &str, fresh: &Fresh, with: &With) -> String {
    let key = with.key.as_ref().and_then(|name| fresh.keys.get(name)).map_or("", String::as_str);
    template.replace("{key}", key)
}

fn values(fresh: &Fresh, with: &With, about: &About) -> Values {
    let text = |text: Option<String>| text.map(Value::String);
    let key = match &with.key_raw {
        Some(raw) => Some(filled(raw, fresh, with)),
        None if with.key_lines.is_empty() => with.key.as_ref().and_then(|name| fresh.keys.get(name)).cloned(),
        // Only a stand-in: the lines themselves replace it.
        None => Some(String::from("lines")),
    };
    let payload = match (&with.payload, &with.payload_text) {
        (_, Some(_)) => Some(Value::String(RAW.to_owned())),
        (Some(name), None) => Some(fresh.payload(name)),
        (None, None) => None,
    };
    let accept = with.accept_unknown.then_some(Value::Bool(true));
    let given: BTreeMap<String, Option<Value>> = BTreeMap::from([
        ("key".to_owned(), text(key)),
        ("payload".to_owned(), payload),
        ("payload.text".to_owned(), text(payload_text(fresh, with))),
        ("job".to_owned(), text(about.job.clone())),
        ("version".to_owned(), text(about.version.clone())),
        ("attempt".to_owned(), Some(Value::from(with.attempt.unwrap_or(1)))),
        ("provider".to_owned(), text(with.provider.clone())),
        ("outcome".to_owned(), text(with.outcome.clone())),
        ("evidence".to_owned(), text(with.evidence.clone())),
        ("accept_unknown".to_owned(), accept),
        ("trace".to_owned(), Some(Value::String(trace()))),
        ("run_at".to_owned(), text(with.run_in.map(|span| after(fresh.began, span)))),
    ]);
    given.into_iter().filter_map(|(name, value)| value.map(|value| (name, value))).collect()
}

/// A W3C trace context that no other request has.
fn trace() -> String {
    let span = &uuid::Uuid::new_v4().simple().to_string()[..16];
    format!("00-{}-{span}-01", uuid::Uuid::new_v4().simple())
}

fn after(began: jiff::Timestamp, span: Span) -> String {
    let span = jiff::SignedDuration::try_from(span.0).unwrap_or(jiff::SignedDuration::ZERO);
    began.checked_add(span).unwrap_or(jiff::Timestamp::MAX).to_string()
}

/// The headers of every request, and those that say whose it is.
pub(crate) fn headers_of(target: &TargetFile, owner: Option<&Owner>) -> Vec<(String, String)> {
    let common = target.target.headers.iter().map(|(name, value)| (name.clone(), value.clone()));
    let own = owner.into_iter().flat_map(|owner| {
        let token = owner.token.clone().unwrap_or_default();
        owner.headers.iter().map(move |(name, value)| (name.clone(), value.replace("{token}", &token)))
    });
    common.chain(own).collect()
}
