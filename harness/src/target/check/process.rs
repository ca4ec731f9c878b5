//! Where the service is, or how it is started; what it is said to have.

use regex::Regex;

use super::{
    super::{
        Command, TargetFile,
        profile::{CUSTOM, profiles},
    },
    finding::Findings,
};
use crate::{fail::Code, scenario::document::nearest};

pub(super) fn check(file: &TargetFile, findings: &mut Findings) {
    let target = &file.target;
    if target.name.trim().is_empty() {
        findings.add(
            Code::TargetWrongValue,
            ["target".into(), "name".into()],
            "`name` is empty",
            "reports need one",
        );
    }
    self::profile(file, findings);
    for (index, base) in target.base.iter().enumerate() {
        let rest = base.strip_prefix("http://").or_else(|| base.strip_prefix("https://"));
        if rest.is_none_or(|rest| {
            rest.is_empty() || rest.contains(char::is_whitespace) || rest.contains(['?', '#'])
        }) {
            let message = format!("`{base}` is no base URL");
            let help = "write it like `http://127.0.0.1:8080`, without query or fragment";
            findings.add(
                Code::TargetWrongValue,
                ["target".into(), "base".into(), index.into()],
                message,
                help,
            );
        }
    }
    if target.base.is_empty() && target.command.is_none() {
        let help = "give `base = [\"http://127.0.0.1:8080\"]` for a service that runs, or [target.command] to start it";
        findings.add(Code::TargetIncomplete, ["target".into()], "nothing says where the service is", help);
    }
    if let Some(command) = &target.command {
        self::command(command, target.base.is_empty(), findings);
    }
    if let Some(ready) = &target.ready
        && (!ready.get.starts_with('/') || ready.get.contains(char::is_whitespace))
    {
        let path = ["target".into(), "ready".into(), "get".into()];
        let message = format!("`{}` is no path", ready.get);
        findings.add(Code::TargetRequest, path, message, "write a path like `/healthz`");
    }
    for capability in target.has.iter().filter(|capability| target.lacks.contains(capability)) {
        let message = format!("the target is said to have `{0}` and to lack it", capability.word());
        findings.add(
            Code::TargetCapability,
            ["target".into(), "lacks".into()],
            message,
            "take it out of one of them",
        );
    }
    database(file, findings);
}

/// The profile is known, and a custom one says what it promises and where.
fn profile(file: &TargetFile, findings: &mut Findings) {
    let name = file.target.profile.as_str();
    let known = profiles();
    let at = ["target".into(), "profile".into()];
    if !known.contains(&name) {
        let help = match nearest(name, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("there are: {}", known.join(", ")),
        };
        findings.add(Code::TargetWrongValue, at, format!("there is no profile `{name}`"), help);
        return;
    }
    match &file.promises {
        None if name == CUSTOM => {
            let message = "the profile `custom` needs a section `[promises]`";
            let help = "say what differs from `onejob target --profile job`, and in `source` where that is documented";
            findings.add(Code::TargetIncomplete, at, message, help);
        }
        Some(_) if name != CUSTOM => {
            let message = format!("`[promises]` is there, and the profile is `{name}`, which has its own");
            findings.add(Code::TargetWrongValue, at, message, "take it out, or say `profile = \"custom\"`");
        }
        Some(promises) if !promises.source.starts_with("http") => {
            let path = ["promises".into(), "source".into()];
            let message = "a promise that nobody has published can't be relied upon";
            let help = "give the address of the service's documentation, like `https://example.org/docs/idempotency`";
            findings.add(Code::TargetWrongValue, path, message, help);
        }
        _ => {}
    }
}

fn command(command: &Command, must_tell: bool, findings: &mut Findings) {
    let path = |key: &str| ["target".into(), "command".into(), key.into()];
    if command.start.is_empty() {
        let help = "write program and arguments: `start = [\"./service\", \"--port\", \"0\"]`";
        findings.add(Code::TargetIncomplete, path("start"), "`start` names no program", help);
    }
    match &command.address {
        None if must_tell => {
            let help = "add `address = 'listening on (http://\\S+)'`, or `base` if the port is fixed";
            let message = "nothing says how the service tells its address";
            findings.add(Code::TargetIncomplete, path("start"), message, help);
        }
        None if command.replicas => {
            let message = "several replicas can't share one fixed `base`";
            let help = "add `address`, so that each can take a free port, or take `replicas` out";
            findings.add(Code::TargetIncomplete, path("replicas"), message, help);
        }
        None => {}
        Some(address) => match Regex::new(address) {
            Err(error) => {
                let message =
                    format!("`address` is no regular expression: {}", last_line(&error.to_string()));
                findings.add(
                    Code::TargetAddress,
                    path("address"),
                    message,
                    "correct it; single quotes keep backslashes",
                );
            }
            Ok(regex) if regex.captures_len() != 2 => {
                let groups = regex.captures_len() - 1;
                let message = format!("`address` has {groups} groups, and needs one: the base URL");
                let help = "put the URL in parentheses, and write `(?:...)` for others";
                findings.add(Code::TargetAddress, path("address"), message, help);
            }
            Ok(_) => {}
        },
    }
}

fn database(file: &TargetFile, findings: &mut Findings) {
    let Some(database) = &file.target.database else { return };
    let path = |key: &str| ["target".into(), "database".into(), key.into()];
    if database.jobs_table.trim().is_empty() {
        let help = "name the table that every creation writes to";
        findings.add(Code::TargetWrongValue, path("jobs_table"), "`jobs_table` is empty", help);
    }
    if let Some(sql) = &database.count_jobs
        && (!sql.contains("$1") || !sql.contains("$2"))
    {
        let message = "`count_jobs` must ask for an owner's key: `$1` is the owner's name, `$2` the key";
        let help = "like `SELECT count(*) FROM jobs WHERE owner = $1 AND idempotency_key = $2`";
        findings.add(Code::TargetWrongValue, path("count_jobs"), message, help);
    }
    if let Some(sql) = &database.lock_job
        && !sql.contains("$1")
    {
        let message = "`lock_job` must lock one job's row: `$1` is the job's id";
        let help = "like `SELECT FROM jobs WHERE id::text = $1 FOR UPDATE`";
        findings.add(Code::TargetWrongValue, path("lock_job"), message, help);
    }
    if file.target.command.is_none() && database.url.is_none() {
        let help =
            "add `url` to [target.database], or take the section out: the service then counts as a black box";
        let message = "nothing says where the database of the running service is";
        findings.add(Code::TargetIncomplete, ["target".into(), "database".into()], message, help);
    }
}

/// The regex crate draws the place over several lines and says what is wrong in the last one.
fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or_default().trim_start_matches("error: ")
}
