use std::{borrow::Cow, collections::BTreeSet, fmt};

use super::{encodings::encodings, names::Names};

/// What stands where a secret stood.
pub const REDACTED: &str = "[redacted]";

/// What must not be written: values that are known, and whatever is given to names that are known to carry secrets.
///
/// A value is found in the ways in which it travels: as it is, percent-encoded, in JSON, in a shell's quotes, in
/// base64. Names are found in headers, URLs, JSON, command lines and assignments. The names of
/// the usual credentials (`authorization`, `cookie`, `password`, `token`, ...) are always known.
#[derive(Clone)]
pub struct Secrets {
    /// Every way in which a value is written, none of them empty.
    written: BTreeSet<String>,
    names: Names,
}

impl Default for Secrets {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows how many there are and none of them.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").field("written", &self.written.len()).field("names", &self.names).finish()
    }
}

impl Secrets {
    /// Knows no value, and the names of the usual credentials.
    #[must_use]
    pub fn new() -> Self {
        Self { written: BTreeSet::new(), names: Names::usual() }
    }

    /// Adds a value. An empty one is ignored, because it is everywhere.
    #[must_use]
    pub fn value(mut self, value: &str) -> Self {
        self.written.extend(encodings(value));
        self
    }

    /// Adds a name whose values are secrets: a header, a query parameter, a JSON member, a variable. Case, and `-`
    /// against `_`, make no difference.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.names.add(name);
        self
    }

    /// Whether values under this name are secrets.
    #[must_use]
    pub fn is_secret_name(&self, name: &str) -> bool {
        self.names.knows(name)
    }

    /// The text without secrets.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let by_value = self.without_values(text);
        match self.names.without_values(&by_value) {
            Some(clean) => Cow::Owned(clean),
            None => by_value,
        }
    }

    /// The text without secrets, in which what stands in the scenario's file stays: `signature=forged` is the point of
    /// a matrix and no credential, whatever its name.
    pub(super) fn text_with(&self, text: &str, from_file: &[String]) -> String {
        let place = |known: &String| text.find(known.as_str()).map(|at| (at, at + known.len()));
        let first = from_file.iter().filter(|known| !known.is_empty()).filter_map(place).min();
        match first {
            None => self.text(text).into_owned(),
            Some((from, to)) => format!(
                "{}{}{}",
                self.text(&text[..from]),
                self.without_values(&text[from..to]),
                self.text_with(&text[to..], from_file)
            ),
        }
    }

    pub(super) fn without_values<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for value in &self.written {
            let mut from = 0;
            while let Some(found) = text[from..].find(value.as_str()) {
                let start = from + found;
                ranges.push((start, start + value.len()));
                // From the next character on, so that occurrences that overlap are found as well.
                from = start + text[start..].chars().next().map_or(1, char::len_utf8);
            }
        }
        if ranges.is_empty() {
            return Cow::Borrowed(text);
        }
        ranges.sort_unstable();
        let mut clean = String::with_capacity(text.len());
        let mut done = 0;
        for (start, end) in merged(ranges) {
            clean.push_str(&text[done..start]);
            clean.push_str(REDACTED);
            done = end;
        }
        clean.push_str(&text[done..]);
        Cow::Owned(clean)
    }
}

/// The sorted ranges with those that touch or overlap made one: two secrets that share characters must not leave the rest of
/// one of them behind.
fn merged(ranges: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let mut merged: Vec<(usize, usize)> = Vec::with_capacity(ranges.len());
    for (start, end) in ranges {
        match merged.last_mut() {
            Some((_, last)) if start <= *last => *last = end.max(*last),
            _ => merged.push((start, end)),
        }
    }
    merged
}
