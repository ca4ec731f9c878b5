use std::{
    fmt,
    sync::{LazyLock, OnceLock},
};

use regex::{Captures, Regex, RegexBuilder};

use super::REDACTED;

/// Names that carry credentials wherever they stand; also as the end of a longer name, as in `x-csrf-token`.
const USUAL: [&str; 17] = [
    "authorization",
    "cookie",
    "set-cookie",
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "token",
    "api-key",
    "access-key",
    "private-key",
    "client-secret",
    "credential",
    "credentials",
    "sessionid",
    "session-id",
];

/// Names whose values are secrets, with the pattern that finds them.
#[derive(Clone)]
pub(super) struct Names {
    own: Vec<String>,
    /// Made when it is needed first: names come one by one, and a pattern of many names takes its time.
    assignment: OnceLock<Regex>,
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.own).finish()
    }
}

impl Names {
    pub(super) fn usual() -> Self {
        Self { own: Vec::new(), assignment: OnceLock::new() }
    }

    pub(super) fn add(&mut self, name: &str) {
        let name = normal(name);
        if !name.is_empty() && !self.own.contains(&name) {
            self.own.push(name);
            self.assignment = OnceLock::new();
        }
    }

    pub(super) fn knows(&self, name: &str) -> bool {
        let name = normal(name);
        self.own.contains(&name) || USUAL.iter().any(|usual| name.ends_with(&normal(usual)))
    }

    /// The text with values under secret names replaced; none where there is nothing to replace.
    pub(super) fn without_values(&self, text: &str) -> Option<String> {
        // Without one of these no value is given to any name; most texts are done here.
        if !text.contains([':', '=']) && !text.contains("--") && !CREDENTIALS.is_match(text) {
            return None;
        }
        let pattern = self.assignment.get_or_init(|| assignment(&self.own));
        if !pattern.is_match(text) && !CREDENTIALS.is_match(text) {
            return None;
        }
        let text = pattern.replace_all(text, redacted);
        Some(CREDENTIALS.replace_all(&text, redacted).into_owned())
    }
}

/// What stays of a find: everything but the value, and the value's quotes, so that the rest still reads as JSON or as a
/// command.
fn redacted(found: &Captures<'_>) -> String {
    let mut groups = found.iter().skip(1).flatten().map(|group| group.as_str());
    let (before, value) = (groups.next().unwrap_or(""), groups.next().unwrap_or(""));
    let quote = ["\\\"", "\"", "'"]
        .into_iter()
        .find(|quote| value.len() >= 2 * quote.len() && value.starts_with(quote) && value.ends_with(quote));
    let (open, close) = match quote {
        Some(quote) => (quote, quote),
        None if value.ends_with('@') => ("", "@"),
        None => ("", ""),
    };
    format!("{before}{open}{REDACTED}{close}")
}

/// One spelling for `API_KEY`, `api-key` and `apiKey`.
fn normal(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Finds `name: value` to the end of the line or of the quotes that it stands in, `name=value`, `"name": value` and
/// `--name value`. The groups come in pairs: what stays, and the value.
fn assignment(own: &[String]) -> Regex {
    let usual: Vec<String> = USUAL.iter().map(|usual| spelled(usual)).collect();
    let mut names = vec![format!("[A-Za-z0-9_-]*(?:{})", usual.join("|"))];
    names.extend(own.iter().map(|own| spelled(own)));
    let name = format!("(?:{})", names.join("|"));
    let double = r#""(?:[^"\\]|\\.)*""#;
    let single = r"'(?:[^']|'\\'')*'";
    let patterns = [
        // A header within the quotes of a command: to the closing quote.
        format!(r"('{name}\s*[:=]\s*)((?:[^']|'\\'')*)"),
        format!(r#"("{name}\s*[:=]\s*)((?:[^"\\]|\\.)*)"#),
        // A member of a JSON object, also of one that stands in a string itself.
        format!(
            r#"(\\?["']{name}\\?["']\s*[:=]\s*)(\\"(?:[^"\\]|\\[^"])*\\"|{double}|{single}|[^\s,}}\]]+)"#
        ),
        // An option of a command.
        format!(r"(--{name}[ =])({double}|{single}|\S+)"),
        // A parameter or a variable.
        format!(r#"(\b{name}=)({double}|{single}|[^\s&;,'"<>]+)"#),
        // A header on a line of its own.
        format!(r"(\b{name}:[ \t]*)([^\r\n]+)"),
    ];
    compile(&format!("(?i){}", patterns.join("|")))
}

fn spelled(name: &str) -> String {
    let letters: Vec<String> = normal(name).chars().map(|c| regex::escape(&c.to_string())).collect();
    letters.join("[-_]?")
}

/// Credentials that show by their form: `Bearer ...`, `Basic ...`, and the password in `scheme://user:password@host`.
static CREDENTIALS: LazyLock<Regex> = LazyLock::new(|| {
    compile(r#"(?i)(\b(?:bearer|basic)\s+)([A-Za-z0-9._~+/=-]{8,})|(://[^/\s:@'"]*:)([^@\s/'"]+@)"#)
});

#[expect(
    clippy::expect_used,
    reason = "the patterns are constants, names are escaped, and tests compile them all"
)]
fn compile(pattern: &str) -> Regex {
    RegexBuilder::new(pattern)
        .size_limit(64 << 20)
        .build()
        .expect("a pattern made of constants and escaped names")
}
