//! Fields of an answer, written where the target file says that they are.

use serde_json::Value;

use crate::{
    gate::RawAnswer,
    target::{Locator, Operation, States},
};

/// An answer that is being changed.
pub(super) struct Edit<'a> {
    operation: &'a Operation,
    words: &'a States,
    raw: &'a mut RawAnswer,
    json: Option<Value>,
    changed: bool,
}

impl<'a> Edit<'a> {
    pub(super) fn new(operation: &'a Operation, words: &'a States, raw: &'a mut RawAnswer) -> Self {
        let json = serde_json::from_slice(&raw.body).ok();
        Self { operation, words, raw, json, changed: false }
    }

    /// Writes a text; false where the answer has no such field.
    pub(super) fn set(&mut self, field: &str, text: &str) -> bool {
        match self.place(field) {
            Some(Locator::Pointer(pointer)) => {
                let Some(there) = self.json.as_mut().and_then(|json| json.pointer_mut(&pointer)) else {
                    return false;
                };
                // Of the same type, as far as it can be: a number stays one.
                *there = match (there.is_number(), text.parse::<u64>()) {
                    (true, Ok(number)) => number.into(),
                    _ => text.into(),
                };
                self.changed = true;
                true
            }
            Some(Locator::Header(name)) => {
                let line = self.raw.headers.iter_mut().find(|(known, _)| *known == name);
                line.is_some_and(|(_, value)| {
                    text.clone_into(value);
                    true
                })
            }
            Some(Locator::Status) | None => false,
        }
    }

    /// Takes a field away.
    pub(super) fn remove(&mut self, field: &str) {
        match self.place(field) {
            Some(Locator::Pointer(pointer)) => {
                if let Some(there) = self.json.as_mut().and_then(|json| json.pointer_mut(&pointer)) {
                    *there = Value::Null;
                    self.changed = true;
                }
            }
            Some(Locator::Header(name)) => self.raw.headers.retain(|(known, _)| *known != name),
            Some(Locator::Status) | None => {}
        }
    }

    /// Writes a state of the harness's in the target's own word; false where it has none for it.
    pub(super) fn state(&mut self, state: &str) -> bool {
        let own = self.words.by_meaning().into_iter().find(|(meaning, _)| *meaning == state);
        let Some(word) = own.and_then(|(_, words)| words.first()).cloned() else { return false };
        self.set("state", &word)
    }

    /// Answers with a status, in the body too where the file finds it there.
    pub(super) fn status(&mut self, status: u16) {
        if matches!(self.place("status"), Some(Locator::Pointer(_))) {
            self.set("status", &status.to_string());
        }
        self.raw.status = status;
    }

    /// Answers with 200, with a job and a state where the file looks for them, and with nothing else.
    pub(super) fn accept(&mut self, job: &str, state: &str) {
        self.json = Some(Value::Object(serde_json::Map::new()));
        self.changed = true;
        let own = self.words.by_meaning().into_iter().find(|(meaning, _)| *meaning == state);
        let word = own.and_then(|(_, words)| words.first()).map_or(state, String::as_str).to_owned();
        for (field, text) in [("job", job), ("state", &word), ("status", "200")] {
            if let (Some(Locator::Pointer(pointer)), Some(json)) = (self.place(field), self.json.as_mut()) {
                put(json, &pointer, text);
            }
        }
        self.raw.status = 200;
    }

    /// A refusal or an error in place of the answer.
    pub(super) fn problem(&mut self, status: u16) {
        let keep = matches!(self.place("status"), Some(Locator::Pointer(_)));
        self.status(status);
        if keep {
            self.remove("job");
            self.remove("state");
        } else {
            self.json = Some(serde_json::json!({ "title": "negated", "status": status }));
            self.changed = true;
        }
    }

    fn place(&self, field: &str) -> Option<Locator> {
        Locator::parse(self.operation.reads.get(field)?).ok()
    }
}

impl Drop for Edit<'_> {
    fn drop(&mut self) {
        if let Some(json) = self.json.as_ref().filter(|_| self.changed) {
            self.raw.body = json.to_string().into_bytes();
        }
    }
}

/// Writes a text at a pointer, and makes what is missing on the way: a number is the place in a list.
fn put(json: &mut Value, pointer: &str, text: &str) {
    let mut there = json;
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        there = if let Ok(at) = part.parse::<usize>() {
            if !there.is_array() {
                *there = Value::Array(Vec::new());
            }
            let Value::Array(list) = there else { return };
            if list.len() <= at {
                list.resize(at + 1, Value::Null);
            }
            &mut list[at]
        } else {
            if !there.is_object() {
                *there = Value::Object(serde_json::Map::new());
            }
            let Value::Object(members) = there else { return };
            members.entry(part).or_insert(Value::Null)
        };
    }
    *there = text.parse::<u64>().map_or_else(|_| text.into(), Into::into);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_place_that_is_not_there_is_made() {
        let mut json = json!({});
        put(&mut json, "/items/0/job/id", "a");
        put(&mut json, "/items/0/status", "200");
        assert_eq!(json, json!({ "items": [{ "job": { "id": "a" }, "status": 200 }] }));
    }
}
