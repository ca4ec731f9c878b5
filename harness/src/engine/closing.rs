//! The end of a round: open requests come home, every job is read once more, the service's own log is taken.

use std::{collections::BTreeMap, sync::Arc};

use futures::future::join_all;
use serde_json::Value;
use sqlx::Row;
use tokio::{
    task::JoinHandle,
    time::{Duration, Instant, sleep, timeout_at},
};

use super::{
    effects,
    exchange::exchange,
    fresh::Fresh,
    request::{About, prepare},
    round::joined,
    world::World,
};
use crate::{
    fail::{Code, Fault},
    gate,
    history::Kind,
    law::View,
    negate::Liar,
    scenario::{Invariants, Step, Verb, With},
    target::{ListOperation, Operation, render},
};

/// Requests that are still open when the steps are over get this long before the double lets everything go.
const COME_HOME: Duration = Duration::from_secs(2);

/// What the service writes about an answer that came too late may follow the answer's last byte by so much.
const WRITTEN_WITHIN: Duration = Duration::from_secs(3);
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// Closes a round. `promised` says what the service's log is waited for.
pub(super) async fn close(
    world: &Arc<World>,
    round: u32,
    pending: Vec<JoinHandle<Result<(), Fault>>>,
    deadline: Instant,
    promised: &Invariants,
) -> Result<(), Fault> {
    let mut home = Box::pin(join_all(pending));
    let soon = deadline.min(Instant::now() + COME_HOME);
    let ended = if let Ok(ended) = timeout_at(soon, &mut home).await {
        ended
    } else {
        // Synchronous services answer when the provider does: whatever is still held is let go.
        if let Some(double) = &world.double {
            double.abandon(round);
        }
        home.await
    };
    for result in ended {
        joined(result)?;
    }
    let view = world.recorder.look(|events| View::of(round, events));
    let mut jobs: Vec<(String, String)> = Vec::new();
    for intent in view.intents() {
        jobs.extend(view.jobs_of(intent).iter().map(|job| (intent.0.clone(), job.clone())));
    }
    if world.target.target.read.is_some() {
        for (owner, job) in &jobs {
            read(world, round, owner, job).await?;
        }
    }
    for (job, audit, reports) in &logs(world, &jobs, promised).await? {
        for entry in audit {
            record_log(world, round, job, entry);
        }
        for entry in reports {
            let kept = Kind::Kept {
                job: job.clone(),
                attempt: entry.get("attempt").cloned(),
                result: entry.get("result").cloned(),
            };
            world.recorder.record(round, kept);
        }
    }
    count_rows(world, round, &view).await?;
    effects::count(world, round).await
}

type Entry = BTreeMap<String, String>;

/// The log and the kept results of every job, once they tell of all that was promised, or will not any more.
async fn logs(
    world: &World,
    jobs: &[(String, String)],
    promised: &Invariants,
) -> Result<Vec<(String, Vec<Entry>, Vec<Entry>)>, Fault> {
    let until = Instant::now() + WRITTEN_WITHIN;
    loop {
        let mut all = Vec::with_capacity(jobs.len());
        for (owner, job) in jobs {
            let hidden = |hides: fn(&Liar) -> bool| world.liar.as_ref().is_some_and(hides);
            let audit = match &world.target.target.audit {
                Some(operation) if !hidden(Liar::hides_log) => list(world, owner, job, operation).await?,
                _ => Vec::new(),
            };
            let reports = match &world.target.target.reports {
                Some(operation) if !hidden(Liar::hides_reports) => list(world, owner, job, operation).await?,
                _ => Vec::new(),
            };
            all.push((job.clone(), audit, reports));
        }
        let logged = |word: &String| {
            all.iter().any(|(_, audit, _)| audit.iter().any(|entry| entry.get("what") == Some(word)))
        };
        let kept = |text: &String| {
            let holds =
                |entry: &Entry| entry.get("result").is_some_and(|result| result.contains(text.as_str()));
            all.iter().any(|(_, _, reports)| reports.iter().any(holds))
        };
        let complete = promised.logged.iter().all(logged) && promised.kept.iter().all(kept);
        if complete || Instant::now() >= until {
            return Ok(all);
        }
        sleep(LOOK_AGAIN_AFTER).await;
    }
}

async fn read(world: &Arc<World>, round: u32, owner: &str, job: &str) -> Result<(), Fault> {
    let step = reading(owner);
    let nothing_fresh =
        Fresh { keys: BTreeMap::new(), markers: BTreeMap::new(), began: jiff::Timestamp::now() };
    let about = About { job: Some(job.to_owned()), version: None };
    let out = prepare(world, &nothing_fresh, ("closing", &step), 0, &about).await?;
    exchange(world.clone(), round, out).await
}

fn reading(owner: &str) -> Step {
    let with = With { owner: Some(owner.to_owned()), ..With::default() };
    Step { with, ..Step::new(Verb::Read) }
}

fn record_log(world: &World, round: u32, job: &str, entry: &BTreeMap<String, String>) {
    let service_us = entry
        .get("at")
        .and_then(|at| at.parse::<jiff::Timestamp>().ok())
        .map(|at| u64::try_from(at.as_microsecond()).unwrap_or(0).saturating_sub(world.recorder.wall_us()));
    world.recorder.record(
        round,
        Kind::Logged {
            job: job.to_owned(),
            what: entry.get("what").cloned().unwrap_or_default(),
            attempt: entry.get("attempt").cloned(),
            detail: entry.get("detail").cloned(),
            service_us,
        },
    );
}

/// Asks for a list. These requests are the harness's own curiosity and no part of the history.
async fn list(
    world: &World,
    owner: &str,
    job: &str,
    list: &ListOperation,
) -> Result<Vec<BTreeMap<String, String>>, Fault> {
    let operation = Operation::get(&list.request);
    let values = [("job".to_owned(), Value::String(job.to_owned()))].into_iter().collect();
    let rendered = render(&operation, &values)?;
    let (client, _) = world.client(None).await?;
    let prepared = gate::Prepared {
        method: rendered.method,
        path: rendered.path,
        headers: super::request::headers_of(&world.target, world.owner(Some(owner))),
        body: Vec::new(),
    };
    let deadline = Instant::now() + world.target.target.answer_within.0;
    let Ok(answer) = client.send(&prepared, deadline, || ()).await else { return Ok(Vec::new()) };
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else { return Ok(Vec::new()) };
    let entries = body.pointer(&list.list).and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let fields = |entry: &Value| {
        let read = list.reads.iter();
        read.filter_map(|(field, at)| entry.pointer(at).and_then(text).map(|value| (field.clone(), value)))
            .collect()
    };
    Ok(entries.iter().map(fields).collect())
}

/// The values of the round's keys by their names.
pub(super) fn keys_of(world: &World, round: u32) -> BTreeMap<String, String> {
    let found = world.recorder.look(|events| {
        events.iter().find_map(|event| match &event.kind {
            Kind::RoundStarted { keys, .. } if event.round == round => Some(keys.clone()),
            _ => None,
        })
    });
    found.unwrap_or_default()
}

async fn count_rows(world: &World, round: u32, view: &View) -> Result<(), Fault> {
    let database = world.target.target.database.as_ref();
    let Some(query) = database.and_then(|database| database.count_jobs.clone()) else { return Ok(()) };
    if world.database_url.is_none() {
        return Ok(());
    }
    let keys = keys_of(world, round);
    for (owner, key) in view.intents() {
        let Some(value) = keys.get(key) else { continue };
        let jobs = one_number(world, "count_jobs` of [target.database", &query, owner, value).await?;
        world.recorder.record(round, Kind::Counted { owner: owner.clone(), key: key.clone(), jobs });
    }
    Ok(())
}

/// Asks the service's database for one integer about an owner's key. `which` is the query's place in the target file.
pub(super) async fn one_number(
    world: &World,
    which: &str,
    query: &str,
    owner: &str,
    key: &str,
) -> Result<u64, Fault> {
    let failed = |error: sqlx::Error| {
        Fault::new(
            Code::DatabaseLost,
            format!("the query `{which}] failed"),
            "it gets the owner's name as $1 and the key as $2, both text, and returns one integer",
        )
        .because(error)
    };
    // One connection for the whole cell: connecting takes longer than all the rest of closing.
    let mut slot = world.counter.lock().await;
    let connection = match &mut *slot {
        Some(connection) => connection,
        empty => empty.insert(world.administrator().await?),
    };
    let statement = sqlx::query(sqlx::AssertSqlSafe(query.to_owned())).bind(owner).bind(key);
    let row = statement.fetch_one(&mut *connection).await.map_err(failed)?;
    let number: i64 = row.try_get(0).map_err(failed)?;
    Ok(u64::try_from(number).unwrap_or(0))
}
