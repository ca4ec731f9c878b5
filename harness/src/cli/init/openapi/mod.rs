//! Reads an `OpenAPI` document and proposes how a target file could map it. Every proposal says why.

mod body;
mod choose;
mod document;

use serde_json::Value;

pub(super) use document::Document;

use self::{
    body::Example,
    choose::{Candidate, candidates},
};
use super::{
    facts::{Fact, Facts, Key},
    words,
};
use crate::fail::{Code, Fault};

/// Names of headers and members that carry keys, without case, hyphens and underscores.
const KEYS: [&str; 12] = [
    "idempotencykey",
    "xidempotencykey",
    "idempotencytoken",
    "clienttoken",
    "clientrequesttoken",
    "clientrequestid",
    "requestid",
    "xrequestid",
    "paypalrequestid",
    "deduplicationid",
    "dedupkey",
    "reqid",
];
/// Paths that tell whether a service is ready, the best first.
const READY: [&str; 8] =
    ["/readyz", "/ready", "/healthz", "/health", "/livez", "/api/health", "/ping", "/status"];

/// Proposes a mapping. `wanted` names the request that makes a job, where somebody said which.
pub(super) fn propose(document: &Document, wanted: Option<&str>) -> Result<Facts, Fault> {
    let all = candidates(document);
    let chosen = match wanted {
        Some(wanted) => all.iter().find(|candidate| candidate.request() == wanted),
        None => all.first(),
    };
    let Some(chosen) = chosen else { return Err(no_submit(document, &all, wanted)) };
    let mut facts = of_candidate(document, chosen);
    let others = all.iter().filter(|other| other.request() != chosen.request() && other.score > 0);
    facts.others = others.take(3).map(Candidate::request).collect();
    facts.name = document.title().map(|title| Fact::guessed(plain_name(title), "the document's title"));
    facts.base =
        document.server().map(|server| Fact::guessed(server.to_owned(), "the document's first server"));
    facts.ready = READY
        .iter()
        .find(|path| document.operation(path, "get").is_some())
        .map(|path| Fact::guessed((*path).to_owned(), "the document has this path"));
    facts.auth = auth(document, chosen.operation);
    Ok(facts)
}

fn of_candidate(document: &Document, chosen: &Candidate<'_>) -> Facts {
    let mut facts =
        Facts { submit: Some(Fact::guessed(chosen.request(), chosen.why.join(", "))), ..Facts::default() };
    let header = key_header(document, chosen);
    let member = document.body_schema(chosen.operation).and_then(|schema| {
        let (members, _) = document.members(schema);
        members.into_iter().map(|(name, _)| name).find(|name| is_key(name))
    });
    if let Some(schema) = document.body_schema(chosen.operation) {
        let Example { value, why } = body::example(document, schema, member);
        facts.body = Some(Fact::guessed(value, why));
    }
    facts.key = match (header, member) {
        (Some(name), _) => {
            let why = format!("the document has a header `{name}` for it");
            Some(Fact::guessed(Key::Header(name.to_lowercase()), why))
        }
        (None, Some(member)) => {
            Some(Fact::guessed(Key::Body, format!("the document has a member `{member}` for it")))
        }
        (None, None) => None,
    };
    let answer = document.answer_schema(chosen.operation);
    let places = answer.map(|schema| places(document, schema)).unwrap_or_default();
    let find = |names: &[&str]| first_named(&places, names);
    facts.job = find(&["id", "job_id", "jobid", "uuid", "name", "reference"])
        .or_else(|| places.iter().map(|(place, _)| place).find(|place| ends_like_an_id(place)))
        .map(|place| Fact::guessed(place.clone(), "the answer's schema has it"));
    let state = find(&["state", "status", "phase", "job_status", "stage"]);
    facts.state = state.map(|place| Fact::guessed(place.clone(), "the answer's schema has it"));
    facts.result = find(&["result", "output", "response"])
        .map(|place| Fact::guessed(place.clone(), "the answer's schema has it"));
    let enumerated =
        state.and_then(|place| places.iter().find(|(other, _)| other == place)).map(|(_, words)| words);
    if let Some(all) = enumerated.filter(|all| !all.is_empty()) {
        let (known, strange) = words::sorted(all.iter().map(String::as_str));
        let why = match strange.as_slice() {
            [] => "the document lists them; their meaning is guessed".to_owned(),
            some => format!(
                "the document lists them; their meaning is guessed. Put these where they belong: {}",
                some.join(", ")
            ),
        };
        facts.words = Some(Fact::guessed(known, why));
    }
    if let Some((path, parameter)) = chosen.item(document) {
        let path = path.replace(&format!("{{{parameter}}}"), "{job}");
        let beside = "it stands beside the request that makes a job";
        if document.operation(&chosen.item_path(document), "get").is_some() {
            facts.read = Some(Fact::guessed(format!("GET {path}"), beside));
        }
        facts.cancel = ["cancel", "cancellation", "abort"]
            .iter()
            .find(|word| {
                document.operation(&format!("{}/{word}", chosen.item_path(document)), "post").is_some()
            })
            .map(|word| Fact::guessed(format!("POST {path}/{word}"), beside));
    }
    facts
}

/// The header that carries the key, by the operation's parameters and those of its path.
fn key_header(document: &Document, chosen: &Candidate<'_>) -> Option<String> {
    document.parameters(chosen.path, chosen.operation).into_iter().find_map(|parameter| {
        let name = parameter.get("name")?.as_str()?;
        (parameter.get("in")?.as_str()? == "header" && is_key(name)).then(|| name.to_owned())
    })
}

pub(super) fn is_key(name: &str) -> bool {
    let plain: String = name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    KEYS.contains(&plain.as_str())
}

/// Pointers to the texts and numbers of an answer, and the words that each may be, where they are listed. One level of
/// wrapping (`data`, `job`) is looked through.
fn places(document: &Document, schema: &Value) -> Vec<(String, Vec<String>)> {
    let (members, _) = document.members(schema);
    let mut all = Vec::new();
    let mut inner = Vec::new();
    for (name, member) in members {
        let escaped = name.replace('~', "~0").replace('/', "~1");
        let member = document.resolved(member);
        let (below, _) = document.members(member);
        if below.is_empty() {
            all.push((format!("/{escaped}"), listed(member)));
            continue;
        }
        for (name, schema) in below {
            let below = name.replace('~', "~0").replace('/', "~1");
            inner.push((format!("/{escaped}/{below}"), listed(document.resolved(schema))));
        }
    }
    all.extend(inner);
    all
}

fn listed(schema: &Value) -> Vec<String> {
    let words = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    words.filter_map(|word| word.as_str().map(str::to_owned)).collect()
}

fn first_named<'p>(places: &'p [(String, Vec<String>)], names: &[&str]) -> Option<&'p String> {
    let name = |place: &str| place.rsplit('/').next().unwrap_or_default().to_lowercase();
    names.iter().find_map(|wanted| places.iter().map(|(place, _)| place).find(|place| name(place) == *wanted))
}

fn ends_like_an_id(place: &str) -> bool {
    let lower = place.to_lowercase();
    lower.ends_with("_id") || place.ends_with("Id") || lower.ends_with("uuid")
}

/// How requests authenticate, by the first scheme that the operation wants and a header can carry.
fn auth(document: &Document, operation: &Value) -> Option<Fact<(String, String)>> {
    let wanted = document.security(operation);
    wanted.iter().find_map(|name| {
        let scheme = document.security_scheme(name)?;
        let text = |key: &str| scheme.get(key).and_then(Value::as_str).unwrap_or_default().to_lowercase();
        let why = format!("the document's security scheme `{name}`");
        match (text("type").as_str(), text("scheme").as_str(), text("in").as_str()) {
            ("http", "basic", _) | ("basic", ..) => {
                let why = format!("{why}; the token is `user:password` in base64");
                Some(Fact::guessed(("authorization".to_owned(), "Basic {token}".to_owned()), why))
            }
            ("http" | "oauth2" | "openidconnect", ..) => {
                Some(Fact::guessed(("authorization".to_owned(), "Bearer {token}".to_owned()), why))
            }
            ("apikey", _, "header") => Some(Fact::guessed((text("name"), "{token}".to_owned()), why)),
            _ => None,
        }
    })
}

/// A name for reports: one word.
fn plain_name(title: &str) -> String {
    let plain = title.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "-");
    let parts: Vec<_> = plain.split('-').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "service".to_owned() } else { parts.join("-") }
}

fn no_submit(document: &Document, all: &[Candidate<'_>], wanted: Option<&str>) -> Fault {
    let there: Vec<_> = all.iter().take(8).map(Candidate::request).collect();
    let message = match wanted {
        Some(wanted) => format!("{} has no `{wanted}`", document.source()),
        None => format!("{} has no POST or PUT that could make a job", document.source()),
    };
    let help = match there.as_slice() {
        [] => "is it the right document? Name the request with `--submit 'POST /path'`".to_owned(),
        some => format!("it has: {}", some.join(", ")),
    };
    Fault::new(Code::OpenApi, message, help)
}

#[cfg(test)]
mod tests;
