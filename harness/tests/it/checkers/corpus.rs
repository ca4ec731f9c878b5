//! Histories as text: one event a line, in the words of the event stream.
//!
//! ```text
//! sent STEP VERB KEY PAYLOAD     sent look read JOB
//! answered STEP STATUS [JOB STATE [winner=N] [result=TEXT] [version=N]]
//! lost STEP                      counted KEY ROWS
//! called CALL JOB ATTEMPT        released CALL     replied CALL TEXT     effect CALL
//! again                          the line before, once more
//! ```

use std::{collections::BTreeMap, fs, path::Path};

use onejob::history::{Answer, Event, Kind, Lost};

use super::Says;

/// Every history of the corpus, with what its folder says of it.
pub fn stories() -> Vec<(Says, String, Vec<Event>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut stories = Vec::new();
    for (says, folder) in [(Says::Good, "good"), (Says::Bad, "bad"), (Says::Undecidable, "undecidable")] {
        let entries = fs::read_dir(root.join(folder)).expect("the corpus is there");
        let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
        files.sort();
        for file in files {
            let text = fs::read_to_string(&file).expect("a story");
            let name = format!("{folder}/{}", file.file_stem().expect("a name").to_string_lossy());
            stories.push((says, name.clone(), read(&text).unwrap_or_else(|line| panic!("{name}: {line}"))));
        }
    }
    stories
}

/// Reads a story; the line that can't be read, where there is one.
fn read(text: &str) -> Result<Vec<Event>, String> {
    let mut events: Vec<Event> = Vec::new();
    let mut requests: BTreeMap<String, u64> = BTreeMap::new();
    let mut calls: BTreeMap<String, u64> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |names: &mut BTreeMap<String, u64>, name: &str| {
            let next = names.len() as u64 + 1;
            *names.entry(name.to_owned()).or_insert(next)
        };
        let kind = match words.as_slice() {
            ["again"] => events.last().ok_or("nothing before `again`")?.kind.clone(),
            ["sent", step, verb, rest @ ..] => sent(number(&mut requests, step), step, verb, rest),
            ["answered", step, status, rest @ ..] => Kind::Answered {
                request: number(&mut requests, step),
                answer: answer(status.parse().map_err(|_| line.to_owned())?, rest),
            },
            ["lost", step] => Kind::Unanswered {
                request: number(&mut requests, step),
                how: Lost::Timeout,
                detail: "no answer".to_owned(),
            },
            ["counted", key, rows] => Kind::Counted {
                owner: "alice".to_owned(),
                key: (*key).to_owned(),
                jobs: rows.parse().map_err(|_| line.to_owned())?,
            },
            ["called", name, job, attempt] => Kind::Called {
                call: number(&mut calls, name),
                name: (*name).to_owned(),
                reply: "hold".to_owned(),
                provider: "primary".to_owned(),
                identity: Some((*job).to_owned()),
                attempt: Some((*attempt).to_owned()),
                payload: None,
                traceparent: None,
            },
            ["released", name] => Kind::Released { call: number(&mut calls, name) },
            ["effect", name] => Kind::Effect { call: number(&mut calls, name) },
            ["replied", name, text] => {
                Kind::Replied { call: number(&mut calls, name), status: 200, text: Some((*text).to_owned()) }
            }
            _ => return Err(line.to_owned()),
        };
        push(&mut events, kind);
    }
    push(&mut events, Kind::RoundEnded);
    Ok(events)
}

/// Adds what happened next.
pub fn push(events: &mut Vec<Event>, kind: Kind) {
    let seq = events.len() as u64;
    events.push(Event { seq, at_us: seq * 100, round: 1, kind });
}

/// A request leaves: `rest` is key and payload, or the job that it is about.
pub fn sent(request: u64, step: &str, verb: &str, rest: &[&str]) -> Kind {
    let owned = |at: usize| rest.get(at).map(|word| (*word).to_owned());
    let creates = verb == "submit";
    Kind::Sent {
        request,
        step: step.to_owned(),
        verb: verb.to_owned(),
        owner: "alice".to_owned(),
        key: owned(0).filter(|_| creates),
        payload: owned(1).filter(|_| creates),
        job: owned(0).filter(|_| !creates),
        line: "POST /jobs".to_owned(),
        headers: BTreeMap::new(),
        body: None,
        replica: 1,
    }
}

fn answer(status: u16, rest: &[&str]) -> Answer {
    let mut answer = Answer { status, refused: status >= 400, ..Answer::default() };
    for (at, word) in rest.iter().enumerate() {
        match word.split_once('=') {
            Some(("winner", value)) => answer.winner = Some(value.to_owned()),
            Some(("result", value)) => answer.result = Some(value.to_owned()),
            Some(("version", value)) => answer.version = Some(value.to_owned()),
            _ if at == 0 => answer.job = Some((*word).to_owned()),
            _ => answer.state = Some((*word).to_owned()),
        }
    }
    answer
}
