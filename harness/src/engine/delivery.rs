//! Delivers a provider's callback, signed as the scenario wants it.

use serde_json::Value;

use super::{
    request::{About, Outgoing, headers_of, operation},
    world::World,
};
use crate::{
    double::Callback,
    fail::{Code, Fault},
    gate::Prepared,
    scenario::{Signature, Step},
    target::{Values, render},
};

const A_DAY: u64 = 24 * 60 * 60;

/// Makes the `number`-th delivery of a callback; 0 where there is only one.
pub(super) async fn deliver(
    world: &World,
    callback: &Callback,
    step: (&str, &Step),
    number: u32,
    about: &About,
) -> Result<Outgoing, Fault> {
    let (name, step) = step;
    let operation = operation(world, step.act, &step.with)?;
    let body: Value = serde_json::from_str(&callback.body).map_err(|error| {
        Fault::new(Code::DoubleFailed, "the double made a callback that is no JSON", "please report this")
            .because(error)
    })?;
    let now = jiff::Timestamp::now().as_second().unsigned_abs();
    let wanted = step.with.signature.unwrap_or(Signature::Valid);
    let timestamp = if wanted == Signature::Old { now - A_DAY } else { now };
    let mut values = Values::default();
    values.set("provider", callback.provider.clone());
    values.set("event", callback.event_id.clone());
    values.set("timestamp", timestamp.to_string());
    values.set("callback", body);
    // The body is rendered first: what is signed are the very bytes that are sent.
    let bytes = render(&operation, &values)?.body.unwrap_or_default();
    let secret = world.target.provider.as_ref().and_then(|provider| provider.callback_secret.clone());
    let secret = match (wanted, secret) {
        (Signature::None, _) | (_, None) => None,
        (Signature::Forged, Some(secret)) => Some(format!("not-{secret}")),
        (Signature::Valid | Signature::Old, Some(secret)) => Some(secret),
    };
    if let Some(secret) = secret {
        let signature = onejob_reference::signature::sign(&secret, &callback.event_id, timestamp, &bytes);
        values.set("signature", signature);
    }
    let rendered = render(&operation, &values)?;
    let (client, replica) = world.client(step.with.replica).await?;
    let mut headers: Vec<(String, String)> = headers_of(&world.target, None);
    headers.extend(rendered.headers);
    Ok(Outgoing {
        id: world.request_id(),
        step: if number == 0 { name.to_owned() } else { format!("{name}.{number}") },
        verb: step.act.word(),
        owner: callback.provider.clone(),
        key: None,
        payload: None,
        job: about.job.clone().or_else(|| callback.identity.clone()),
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
