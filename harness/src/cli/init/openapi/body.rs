//! A body that a schema accepts, with the payload in it.

use serde_json::{Map, Value, json};

use super::Document;

/// How deep a body is made.
const DEPTH: usize = 8;
/// What a payload's text needs.
const ROOM: u64 = 48;

/// A body, and what was thought.
pub(super) struct Example {
    pub(super) value: Value,
    pub(super) why: String,
}

/// Makes a body: what is required, the key where it has one, and the payload at the first place that can take it: an
/// object of any shape, or a text.
pub(super) fn example(document: &Document, schema: &Value, key: Option<&str>) -> Example {
    let (members, required) = document.members(schema);
    if members.is_empty() {
        let why = "the document doesn't say what is in it";
        return Example { value: json!("{payload}"), why: why.to_owned() };
    }
    let place = holder(document, &members, &required, key);
    let mut body = Map::new();
    for (name, member) in &members {
        let value = if Some(*name) == key {
            json!("{key}")
        } else if place.as_ref().is_some_and(|place| place.name == *name) {
            json!(place.as_ref().map_or("", |place| place.template))
        } else if required.contains(name) {
            value(document, member, DEPTH)
        } else {
            continue;
        };
        body.insert((*name).to_owned(), value);
    }
    let why = match place {
        Some(place) => format!("the payload is put into `{}`, {}", place.name, place.why),
        None => "no member can take a text, so all payloads look alike: put `{payload}` where it belongs"
            .to_owned(),
    };
    Example { value: Value::Object(body), why }
}

struct Holder<'d> {
    name: &'d str,
    template: &'static str,
    why: &'static str,
}

fn holder<'d>(
    document: &Document,
    members: &[(&'d str, &Value)],
    required: &[&str],
    key: Option<&str>,
) -> Option<Holder<'d>> {
    const TELLING: [&str; 9] =
        ["input", "payload", "data", "params", "parameters", "arguments", "args", "body", "metadata"];
    let free = members.iter().filter(|(name, _)| Some(*name) != key);
    let mut objects: Vec<_> =
        free.clone().filter(|(_, member)| is_any_object(document, member)).map(|(name, _)| *name).collect();
    objects.sort_by_key(|name| {
        let telling =
            TELLING.iter().position(|word| name.eq_ignore_ascii_case(word)).unwrap_or(TELLING.len());
        (telling, !required.contains(name))
    });
    if let Some(name) = objects.first() {
        return Some(Holder { name, template: "{payload}", why: "which takes an object of any shape" });
    }
    let mut texts: Vec<_> =
        free.filter(|(_, member)| is_any_text(document, member)).map(|(name, _)| *name).collect();
    texts.sort_by_key(|name| !required.contains(name));
    let name = texts.first()?;
    Some(Holder { name, template: "{payload.text}", why: "which takes any text" })
}

fn chosen<'d>(document: &'d Document, schema: &'d Value) -> &'d Value {
    let schema = document.resolved(schema);
    document.one_of(schema).unwrap_or(schema)
}

fn is_any_object(document: &Document, schema: &Value) -> bool {
    let schema = chosen(document, schema);
    let (members, _) = document.members(schema);
    is_type(schema, "object")
        && members.is_empty()
        && schema.get("additionalProperties") != Some(&json!(false))
}

fn is_any_text(document: &Document, schema: &Value) -> bool {
    let schema = chosen(document, schema);
    let narrow = ["enum", "const", "format", "pattern"].iter().any(|key| schema.get(*key).is_some());
    let roomy = schema.get("maxLength").and_then(Value::as_u64).is_none_or(|most| most >= ROOM);
    is_type(schema, "string") && !narrow && roomy
}

fn is_type(schema: &Value, wanted: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == wanted,
        // 3.1 has lists of types.
        Some(Value::Array(several)) => several.iter().any(|one| one == wanted),
        _ => false,
    }
}

/// A value that the schema accepts, as far as a few rules can tell.
fn value(document: &Document, schema: &Value, depth: usize) -> Value {
    let schema = chosen(document, schema);
    let first = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|all| all.first());
    let given = schema.get("const").or_else(|| schema.get("example")).or_else(|| schema.get("default"));
    if let Some(given) = given.or_else(|| first("examples")).or_else(|| first("enum")) {
        return given.clone();
    }
    if depth == 0 {
        return Value::Null;
    }
    if is_type(schema, "string") {
        return json!(text(schema));
    }
    if is_type(schema, "integer") || is_type(schema, "number") {
        return number(schema);
    }
    if is_type(schema, "boolean") {
        return json!(false);
    }
    if is_type(schema, "array") {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let items = schema.get("items").filter(|_| least > 0).map(|items| value(document, items, depth - 1));
        return Value::Array(items.into_iter().collect());
    }
    let (members, required) = document.members(schema);
    let needed = members.into_iter().filter(|(name, _)| required.contains(name));
    Value::Object(
        needed.map(|(name, member)| (name.to_owned(), value(document, member, depth - 1))).collect(),
    )
}

fn text(schema: &Value) -> String {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let known = match format {
        "uuid" => "00000000-0000-4000-8000-000000000000",
        "date-time" => "2030-01-01T00:00:00Z",
        "date" => "2030-01-01",
        "time" => "12:00:00Z",
        "email" => "onejob@example.com",
        "uri" | "url" => "https://example.com/",
        "ipv4" => "192.0.2.1",
        _ => "onejob",
    };
    let least = schema.get("minLength").and_then(Value::as_u64).and_then(|least| usize::try_from(least).ok());
    let most = schema.get("maxLength").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
    let mut text = known.to_owned();
    // A schema that asks for a novel gets an answer from the service instead.
    while text.len() < least.unwrap_or(0).min(4096) {
        text.push('x');
    }
    if format.is_empty() {
        text.truncate(most.unwrap_or(text.len()).min(text.len()));
    }
    text
}

fn number(schema: &Value) -> Value {
    let at_least = schema.get("minimum").or_else(|| schema.get("exclusiveMinimum")).and_then(Value::as_i64);
    let at_most = schema.get("maximum").and_then(Value::as_i64);
    let least = match (at_least, schema.get("exclusiveMinimum").is_some_and(Value::is_number)) {
        (Some(least), true) => least.saturating_add(1),
        (Some(least), false) => least,
        (None, _) => 1,
    };
    json!(at_most.map_or(least.max(1), |most| least.max(1).min(most)))
}
