//! Which request of a document makes a job.

use serde_json::Value;

use super::{Document, is_key};

/// A request that could make a job.
#[derive(Debug)]
pub(super) struct Candidate<'d> {
    pub(super) path: &'d str,
    pub(super) method: &'static str,
    pub(super) operation: &'d Value,
    pub(super) score: i32,
    /// What speaks for it.
    pub(super) why: Vec<&'static str>,
}

impl Candidate<'_> {
    /// As a target file has it.
    pub(super) fn request(&self) -> String {
        format!("{} {}", self.method.to_uppercase(), self.path)
    }

    /// The path of a single job below it, as the document spells it.
    pub(super) fn item_path(&self, document: &Document) -> String {
        self.item(document).map(|(path, _)| path).unwrap_or_default()
    }

    /// The path of a single job below it, and its parameter's name.
    pub(super) fn item(&self, document: &Document) -> Option<(String, String)> {
        document.paths().find_map(|(path, _)| {
            let rest = path.strip_prefix(self.path.trim_end_matches('/'))?.strip_prefix('/')?;
            let parameter = rest.trim_end_matches('/').strip_prefix('{')?.strip_suffix('}')?;
            (!parameter.contains(['/', '{'])).then(|| (path.to_owned(), parameter.to_owned()))
        })
    }
}

/// All requests that could make a job, the likeliest first; among equals the order of the document stands.
pub(super) fn candidates(document: &Document) -> Vec<Candidate<'_>> {
    let mut all: Vec<Candidate<'_>> = document
        .paths()
        .flat_map(|(path, item)| {
            let methods = ["post", "put"].into_iter();
            methods.filter_map(move |method| Some((path, method, item.get(method)?)))
        })
        .map(|(path, method, operation)| judged(document, path, method, operation))
        .collect();
    all.sort_by_key(|candidate| std::cmp::Reverse(candidate.score));
    all
}

fn judged<'d>(
    document: &'d Document,
    path: &'d str,
    method: &'static str,
    operation: &'d Value,
) -> Candidate<'d> {
    let mut candidate = Candidate { path, method, operation, score: 0, why: Vec::new() };
    let text = |key: &str| operation.get(key).and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let told = format!("{} {}", text("operationId"), text("summary"));
    let names = |words: &[&str], text: &str| words.iter().any(|word| text.contains(word));
    let header = |parameter: &&Value| parameter.get("name").and_then(Value::as_str).is_some_and(is_key);
    let body = document.body_schema(operation);
    let in_body = body.is_some_and(|body| document.members(body).0.iter().any(|(name, _)| is_key(name)));
    let told_id = document.answer_schema(operation).is_some_and(|schema| {
        document.members(schema).0.iter().any(|(name, _)| name.to_lowercase().ends_with("id"))
    });
    let answers = operation.get("responses");
    let accepts = answers.is_some_and(|answers| answers.get("201").is_some() || answers.get("202").is_some());
    let signs = [
        (document.parameters(path, operation).iter().any(header) || in_body, 6, "it takes a key"),
        (candidate.item(document).is_some(), 4, "what it makes can be read by its id"),
        (accepts, 3, "it answers 201 or 202"),
        (!path.contains('{'), 3, ""),
        (told_id, 2, "its answer has an id"),
        (body.is_some(), 2, ""),
        (
            names(&["create", "submit", "enqueue", "start", "place", "new"], &told),
            2,
            "its name says that it creates",
        ),
        (method == "post", 1, ""),
        (
            names(&["job", "task", "order", "payment", "charge", "run", "transfer"], &path.to_lowercase()),
            1,
            "",
        ),
        (
            names(
                &["login", "token", "auth", "session", "search", "query", "webhook", "upload"],
                &path.to_lowercase(),
            ),
            -8,
            "",
        ),
    ];
    for (holds, weight, why) in signs {
        if holds {
            candidate.score += weight;
            if !why.is_empty() {
                candidate.why.push(why);
            }
        }
    }
    if candidate.why.is_empty() {
        candidate.why.push("nothing speaks for another one");
    }
    candidate
}
