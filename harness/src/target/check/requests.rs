//! Requests: method and path, headers, and where the answer's fields are.

use std::collections::BTreeMap;

use super::{
    super::{
        ListOperation, Operation, TargetFile,
        pointer::{Locator, is_header_name, pointer},
    },
    finding::{Findings, Part},
};
use crate::{
    fail::Code,
    scenario::{FIELDS, document::nearest, placeholder::names},
};

/// Fields of an entry of a list.
const OF_LISTS: [&str; 5] = ["what", "at", "attempt", "detail", "result"];
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// The operations of a file by their sections' names, in the order of the model.
pub(super) fn operations(file: &TargetFile) -> Vec<(&'static str, &Operation)> {
    let target = &file.target;
    let optional = [
        ("read", &target.read),
        ("lookup", &target.lookup),
        ("retry", &target.retry),
        ("cancel", &target.cancel),
        ("cancel-attempt", &target.cancel_attempt),
        ("resolve", &target.resolve),
        ("callback", &target.callback),
        ("race", &target.race),
        ("batch", &target.batch),
        ("schedule", &target.schedule),
    ];
    let optional = optional.into_iter().filter_map(|(name, operation)| Some((name, operation.as_ref()?)));
    std::iter::once(("submit", &target.submit)).chain(optional).collect()
}

/// The operations that answer with a list.
pub(super) fn lists(file: &TargetFile) -> Vec<(&'static str, &ListOperation)> {
    let lists = [("audit", &file.target.audit), ("reports", &file.target.reports)];
    lists.into_iter().filter_map(|(name, operation)| Some((name, operation.as_ref()?))).collect()
}

pub(super) fn check(file: &TargetFile, findings: &mut Findings) {
    headers(&["target".into()], &file.target.headers, findings);
    for (name, operation) in operations(file) {
        let at: [Part; 2] = ["target".into(), name.into()];
        request(&at, &operation.request, findings);
        headers(&at, &operation.headers, findings);
        reads(&at, &operation.reads, &FIELDS, true, findings);
        if let Some(status) = operation.refused.iter().find(|status| !(300..=599).contains(*status)) {
            let message = format!("{status} can't mean that a request was refused");
            findings.add(
                Code::TargetReads,
                path(&at, &["refused"]),
                message,
                "write statuses from 300 to 599",
            );
        }
    }
    for (name, operation) in lists(file) {
        let at: [Part; 2] = ["target".into(), name.into()];
        request(&at, &operation.request, findings);
        reads(&at, &operation.reads, &OF_LISTS, false, findings);
        if let Err(wrong) = pointer(&operation.list) {
            let help = "write the JSON Pointer of the list, or leave it out where the answer is the list";
            findings.add(Code::TargetReads, path(&at, &["list"]), wrong.to_string(), help);
        }
        let wanted = if name == "audit" { "what" } else { "result" };
        if !operation.reads.contains_key(wanted) {
            let message = format!("nothing says where the entries of `{name}` have their `{wanted}`");
            findings.add(
                Code::TargetReads,
                path(&at, &["reads"]),
                message,
                format!("add `{wanted} = \"/...\"`"),
            );
        }
    }
    effects(file, findings);
    job_is_told(file, findings);
}

/// One way to count, and one that can be gone.
fn effects(file: &TargetFile, findings: &mut Findings) {
    let Some(effects) = &file.target.effects else { return };
    let at: [Part; 2] = ["target".into(), "effects".into()];
    match (&effects.sql, &effects.request) {
        (None, None) | (Some(_), Some(_)) => {
            let message = "[target.effects] counts in one way, by `sql` or by `request`";
            findings.add(Code::TargetIncomplete, at, message, "give exactly one of the two");
        }
        (Some(_), None) if file.target.database.is_none() => {
            let message = "`sql` of [target.effects] has no database to ask";
            let help = "add [target.database], or count by `request`";
            findings.add(Code::TargetIncomplete, path(&at, &["sql"]), message, help);
        }
        (Some(_), None) => {}
        (None, Some(line)) => {
            request(&at, line, findings);
            if !names(line).any(|name| name == "key") {
                let message = "`request` of [target.effects] never says `{key}`, so it can't count the effects of one key";
                findings.add(
                    Code::TargetRequest,
                    path(&at, &["request"]),
                    message,
                    "put `{key}` into its path or query",
                );
            }
            if let Err(wrong) = pointer(&effects.count) {
                let help = "write the JSON Pointer of a number or a list in the answer";
                findings.add(Code::TargetReads, path(&at, &["count"]), wrong.to_string(), help);
            }
        }
    }
}

fn request(at: &[Part], request: &str, findings: &mut Findings) {
    let mut wrong = |message: String, help: &str| {
        findings.add(Code::TargetRequest, path(at, &["request"]), message, help);
    };
    let Some((method, target)) = request.split_once(' ') else {
        wrong(
            format!("`{request}` is not a method and a path"),
            "write both with one space between: `POST /v1/jobs`",
        );
        return;
    };
    if !METHODS.contains(&method) {
        wrong(format!("`{method}` is no method"), "write GET, POST, PUT, PATCH or DELETE, in capitals");
    }
    if !target.starts_with('/') {
        wrong(
            format!("the path `{target}` does not begin with a slash"),
            "write the path only; `base` has the host",
        );
    } else if target.contains(char::is_whitespace) || target.contains('#') {
        wrong(format!("the path `{target}` has a space or a `#` in it"), "percent-encode it, or take it out");
    }
}

fn headers(at: &[Part], headers: &BTreeMap<String, String>, findings: &mut Findings) {
    for (name, value) in headers {
        if !is_header_name(name) {
            let message = format!("`{name}` is no header's name");
            let help = "use letters, digits and hyphens";
            findings.add(Code::TargetRequest, path(at, &["headers", name]), message, help);
        }
        if value.chars().any(char::is_control) {
            let message = format!("the value of `{name}` has a control character in it");
            let help = "a header is one line of visible characters";
            findings.add(Code::TargetRequest, path(at, &["headers", name]), message, help);
        }
    }
}

fn reads(
    at: &[Part],
    reads: &BTreeMap<String, String>,
    fields: &[&str],
    of_answer: bool,
    findings: &mut Findings,
) {
    for (field, place) in reads {
        if !fields.contains(&field.as_str()) {
            let help = match nearest(field, fields.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there are: {}", fields.join(", ")),
            };
            let message = format!("no scenario asks for a field `{field}`");
            findings.add(Code::TargetReads, path(at, &["reads", field]), message, help);
        }
        let wrong = if of_answer { Locator::parse(place).err() } else { pointer(place).err() };
        if let Some(wrong) = wrong {
            let help = if of_answer {
                "write a JSON Pointer like `/id`, `header:NAME`, or `status`"
            } else {
                "write a JSON Pointer into an entry, like `/kind`"
            };
            findings.add(Code::TargetReads, path(at, &["reads", field]), wrong.to_string(), help);
        }
    }
}

/// What is asked about a job needs to know which.
fn job_is_told(file: &TargetFile, findings: &mut Findings) {
    let told = file.target.submit.reads.contains_key("job");
    let about = operations(file).into_iter().filter(|(name, _)| {
        !matches!(*name, "submit" | "race" | "batch" | "schedule" | "lookup" | "callback")
    });
    let requests = about.map(|(name, operation)| (name, &operation.request, operation.json.as_ref()));
    for (name, request, json) in
        requests.chain(lists(file).into_iter().map(|(name, list)| (name, &list.request, None)))
    {
        let in_body = json.is_some_and(|json| json.to_string().contains("{job}"));
        let at: [Part; 2] = ["target".into(), name.into()];
        if !names(request).any(|placeholder| placeholder == "job") && !in_body {
            let message = format!("[target.{name}] never says which job is meant");
            findings.add(
                Code::TargetIncomplete,
                path(&at, &["request"]),
                message,
                "put `{job}` into its path",
            );
        } else if !told {
            let message = format!(
                "[target.{name}] needs `{{job}}`, and nothing tells it: [target.submit] doesn't read `job`"
            );
            let help = "add `job = \"/id\"`, or wherever it is, to the `reads` of [target.submit]";
            findings.add(Code::TargetReads, ["target".into(), "submit".into()], message, help);
            return;
        }
    }
}

pub(super) fn path(at: &[Part], below: &[&str]) -> Vec<Part> {
    at.iter().cloned().chain(below.iter().map(|key| Part::from(*key))).collect()
}
