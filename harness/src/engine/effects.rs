//! Counts effects where no provider double sees them: by a query, by a request, or by what a job tells of itself.

use serde_json::Value;
use tokio::time::Instant;

use super::{
    closing::{keys_of, one_number},
    request::headers_of,
    world::World,
};
use crate::{
    fail::{Code, Fault},
    gate,
    history::Kind,
    law::View,
    target::{Effects, Operation, render},
};

/// The further field in which a job tells of its effects, where the target file reads it.
const FIELD: &str = "effects";

/// Records how many effects each intent of the round has had.
pub(super) async fn count(world: &World, round: u32) -> Result<(), Fault> {
    let view = world.recorder.look(|events| View::of(round, events));
    let told = world.target.target.read.as_ref().is_some_and(|read| read.reads.contains_key(FIELD));
    let counter = world.target.target.effects.as_ref();
    if counter.is_none() && !told {
        return Ok(());
    }
    let keys = keys_of(world, round);
    for (owner, key) in view.intents() {
        let Some(value) = keys.get(key) else { continue };
        let effects = match counter {
            Some(Effects { sql: Some(query), .. }) => {
                Some(one_number(world, "sql` of [target.effects", query, owner, value).await?)
            }
            Some(Effects { request: Some(request), count, .. }) => {
                Some(by_request(world, request, count, owner, value).await?)
            }
            _ => by_jobs(&view, &(owner.clone(), key.clone())),
        };
        if let Some(effects) = effects {
            let event = Kind::EffectsCounted { owner: owner.clone(), key: key.clone(), effects };
            world.recorder.record(round, event);
        }
    }
    Ok(())
}

/// What the jobs of an intent told last, added up; nothing where none told.
fn by_jobs(view: &View, intent: &(String, String)) -> Option<u64> {
    let last = |job: &String| {
        let told = view.told_of(job);
        told.iter().rev().find_map(|(_, answer)| answer.fields.get(FIELD)?.parse::<u64>().ok())
    };
    view.jobs_of(intent).iter().filter_map(last).reduce(|one, other| one + other)
}

async fn by_request(world: &World, request: &str, count: &str, owner: &str, key: &str) -> Result<u64, Fault> {
    let values = [("key".to_owned(), Value::String(key.to_owned()))].into_iter().collect();
    let rendered = render(&Operation::get(request), &values)?;
    let prepared = gate::Prepared {
        method: rendered.method,
        path: rendered.path,
        headers: headers_of(&world.target, world.owner(Some(owner))),
        body: Vec::new(),
    };
    let (client, _) = world.client(None).await?;
    let deadline = Instant::now() + world.target.target.answer_within.0;
    let answer = client
        .send(&prepared, deadline, || ())
        .await
        .map_err(|loss| uncounted(request, &loss.to_string()))?;
    if !(200..300).contains(&answer.status) {
        return Err(uncounted(request, &format!("status {}", answer.status)));
    }
    let body: Value = serde_json::from_slice(&answer.body).map_err(|_| uncounted(request, "no JSON"))?;
    number(body.pointer(count)).ok_or_else(|| {
        uncounted(request, &format!("`{count}` finds neither a number nor a list in its answer"))
    })
}

/// A number as it is, a list by its length.
fn number(found: Option<&Value>) -> Option<u64> {
    match found? {
        Value::Array(entries) => u64::try_from(entries.len()).ok(),
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn uncounted(request: &str, why: &str) -> Fault {
    Fault::new(
        Code::AnswerPointer,
        format!("effects could not be counted: `{request}` of [target.effects]: {why}"),
        "it is asked as the owner, with `{key}` as the key; `count` is the JSON Pointer of a number or a list",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_counts_itself_and_a_list_its_entries() {
        assert_eq!(number(Some(&json!(2))), Some(2));
        assert_eq!(number(Some(&json!("3"))), Some(3));
        assert_eq!(number(Some(&json!([{}, {}]))), Some(2));
        assert_eq!(number(Some(&json!([]))), Some(0));
        assert_eq!(number(Some(&json!({}))), None);
        assert_eq!(number(None), None);
    }
}
