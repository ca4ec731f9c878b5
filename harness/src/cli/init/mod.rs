//! `onejob init`

mod ask;
mod facts;
mod openapi;
mod page;
mod words;
mod workflow;

use std::{
    fs,
    io::{IsTerminal as _, Write as _},
    path::{Path, PathBuf},
};

use onejob_reports::{exit::ExitCode, term::ColorChoice};
use serde_json::Value;

use self::{
    facts::{Fact, Facts, Key, variable_of},
    openapi::Document,
};
use super::{
    args::{Global, InitArgs},
    common,
};
use crate::{
    fail::{Code, Fault},
    target,
};

pub(super) fn init(global: &Global, args: &InitArgs) -> Result<ExitCode, Fault> {
    refuse_to_overwrite(&args.file, args.force)?;
    let said = said(args)?;
    let read = match &args.openapi {
        Some(path) => openapi::propose(&Document::read(path)?, args.submit.as_deref())?,
        None => Facts::default(),
    };
    let mut facts = said.or(read);
    let may_ask = !args.yes && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if may_ask {
        let colors = common::look(ColorChoice::from(global.color)).color;
        let (plain, colorful) = (dialoguer::theme::SimpleTheme, dialoguer::theme::ColorfulTheme::default());
        let theme: &dyn dialoguer::theme::Theme = if colors { &colorful } else { &plain };
        ask::ask(&mut facts, theme)?;
    }
    enough(&facts)?;
    facts.settle(&folder_name(&args.file));
    let text = page::page(&facts);
    loads(&args.file, &text)?;
    let mut files = vec![(args.file.clone(), text)];
    if let Some(ci) = args.ci {
        let variables: Vec<_> = facts.owners.iter().map(|(_, variable)| variable.clone()).collect();
        let (path, text) = workflow::workflow(ci, &args.file, &variables);
        let path = args.file.parent().unwrap_or(Path::new("")).join(path);
        refuse_to_overwrite(&path, args.force)?;
        files.push((path, text));
    }
    for (path, text) in &files {
        write(path, text)?;
    }
    let told = told(&facts, &files, &args.file);
    if !global.quiet {
        // A closed pipe has seen enough: the files are there.
        let _ = write!(std::io::stdout(), "{told}");
    }
    Ok(ExitCode::Success)
}

/// What the flags say.
fn said(args: &InitArgs) -> Result<Facts, Fault> {
    let text = |text: &Option<String>| text.clone().map(Fact::said);
    let body = args.body.as_deref().map(|text| {
        serde_json::from_str::<Value>(text).map(Fact::said).map_err(|error| no_json("`--body`", &error))
    });
    let mut words = std::collections::BTreeMap::<String, Vec<String>>::new();
    for word in &args.word {
        let (meaning, all) = pair("--word", word, "MEANING=WORD,WORD")?;
        if !words::meanings().any(|known| known == meaning) {
            let known: Vec<_> = words::meanings().collect();
            return Err(bad("--word", word, &format!("states mean one of: {}", known.join(", "))));
        }
        words.entry(meaning).or_default().extend(all.split(',').map(|one| one.trim().to_owned()));
    }
    let mut owners = Vec::new();
    for owner in &args.owner {
        owners.push(match owner.split_once('=') {
            Some((name, variable)) => (name.to_owned(), variable.to_owned()),
            None => (owner.clone(), variable_of(owner)),
        });
    }
    let pairs = |flag: &str, all: &[String]| -> Result<std::collections::BTreeMap<String, String>, Fault> {
        all.iter().map(|one| pair(flag, one, "NAME=VALUE")).collect()
    };
    Ok(Facts {
        name: text(&args.name),
        profile: text(&args.profile),
        base: text(&args.base),
        start: args.start.as_deref().map(words_of).transpose()?.unwrap_or_default(),
        env: pairs("--env", &args.env)?,
        settings: pairs("--setting", &args.setting)?,
        ready: text(&args.ready),
        // With a document it only chooses; the reason comes from there.
        submit: text(&args.submit),
        key: args.key_header.clone().map(|name| Fact::said(Key::Header(name.to_lowercase()))),
        body: body.transpose()?,
        job: text(&args.job),
        state: text(&args.state),
        result: text(&args.result),
        read: text(&args.read),
        cancel: text(&args.cancel),
        words: (!words.is_empty()).then(|| Fact::said(words)),
        auth: args.auth.as_deref().map(header).transpose()?.map(Fact::said),
        owners,
        provider_env: args.provider_env.clone(),
        identity: args.identity.clone(),
        others: Vec::new(),
    })
}

/// A line as a shell would split it into words; nothing else that a shell does is done.
fn words_of(line: &str) -> Result<Vec<String>, Fault> {
    shlex::split(line).filter(|words| !words.is_empty()).ok_or_else(|| {
        bad("--start", line, "write program and arguments as in a shell; quotes have to be closed")
    })
}

/// `NAME: VALUE`
fn header(line: &str) -> Result<(String, String), Fault> {
    let (name, value) = line
        .split_once(':')
        .ok_or_else(|| bad("--auth", line, "write a header, like `authorization: Bearer {token}`"))?;
    Ok((name.trim().to_lowercase(), value.trim().to_owned()))
}

fn pair(flag: &str, text: &str, form: &str) -> Result<(String, String), Fault> {
    let (name, value) = text
        .split_once('=')
        .filter(|(name, _)| !name.trim().is_empty())
        .ok_or_else(|| bad(flag, text, &format!("write {form}")))?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

fn bad(flag: &str, value: &str, help: &str) -> Fault {
    Fault::new(Code::BadFlag, format!("`{flag} {value}` makes no sense"), help)
}

fn no_json(what: &str, error: &serde_json::Error) -> Fault {
    let help = "write it like '{\"input\": \"{payload}\"}'";
    Fault::new(Code::BadFlag, format!("{what} is not JSON: {error}"), help)
}

/// Without these no file could say anything.
fn enough(facts: &Facts) -> Result<(), Fault> {
    let mut missing = Vec::new();
    if facts.base.is_none() && facts.start.is_empty() {
        missing.push("where the service is (`--base URL`) or how it is started (`--start COMMAND`)");
    }
    if facts.submit.is_none() {
        missing.push("which request makes a job (`--submit 'POST /path'` or `--openapi FILE`)");
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Fault::new(
        Code::InitIncomplete,
        format!("nothing says {}", missing.join(", nor ")),
        "give the flags, or start it on a terminal and be asked; `onejob target --print reference` is a whole example",
    ))
}

fn folder_name(file: &Path) -> String {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = parent.map(Path::to_path_buf).or_else(|| std::env::current_dir().ok());
    let folder = folder.and_then(|folder| folder.canonicalize().ok());
    folder
        .and_then(|folder| folder.file_name().map(|name| name.to_string_lossy().into_owned()))
        .unwrap_or_else(|| "service".to_owned())
}

fn refuse_to_overwrite(path: &Path, force: bool) -> Result<(), Fault> {
    if force || fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    Err(Fault::new(
        Code::InitExists,
        format!("{} is there already, and nothing was written", path.display()),
        "name another file, or give `--force` to replace it",
    ))
}

/// The file has to load before anybody is told that it is one. Variables are set later.
fn loads(path: &Path, text: &str) -> Result<(), Fault> {
    target::load_with(&path.display().to_string(), text, &|_| Some("set-later".to_owned())).map(drop)
}

fn write(path: &PathBuf, text: &str) -> Result<(), Fault> {
    let written = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => fs::create_dir_all(parent),
        _ => Ok(()),
    };
    written.and_then(|()| fs::write(path, text)).map_err(|error| {
        Fault::new(
            Code::ReportPath,
            format!("{} can't be written", path.display()),
            "check that you may write there",
        )
        .because(error)
    })
}

/// What was written, what was guessed and why, and what comes next.
fn told(facts: &Facts, files: &[(PathBuf, String)], target: &Path) -> String {
    let mut lines: Vec<String> = files.iter().map(|(path, _)| format!("wrote {}", path.display())).collect();
    let guesses = guesses(facts);
    if !guesses.is_empty() {
        lines.push("guessed:".to_owned());
        lines.extend(guesses);
    }
    if !facts.others.is_empty() {
        lines.push(format!("other requests that could make a job: {}", facts.others.join(", ")));
    }
    let unset: Vec<_> = facts
        .owners
        .iter()
        .map(|(_, variable)| variable.as_str())
        .filter(|variable| std::env::var_os(variable).is_none())
        .collect();
    if !unset.is_empty() {
        lines.push(format!("set these variables to the owners' tokens: {}", unset.join(", ")));
    }
    lines.push(format!("next: onejob doctor {}", target.display()));
    lines.push(String::new());
    lines.join("\n")
}

fn guesses(facts: &Facts) -> Vec<String> {
    let text = |fact: &Option<Fact<String>>| {
        fact.as_ref().and_then(|fact| Some((fact.value.clone(), fact.why.clone()?)))
    };
    let key = facts.key.as_ref().and_then(|key| {
        let value = match &key.value {
            Key::Header(name) => format!("header {name}"),
            Key::Body => "in the body".to_owned(),
        };
        Some((value, key.why.clone()?))
    });
    let body = facts.body.as_ref().and_then(|body| Some((body.value.to_string(), body.why.clone()?)));
    let auth = facts
        .auth
        .as_ref()
        .and_then(|auth| Some((format!("{}: {}", auth.value.0, auth.value.1), auth.why.clone()?)));
    let words = facts.words.as_ref().and_then(|words| {
        let all = words.value.iter().map(|(meaning, words)| format!("{meaning} = {}", words.join("|")));
        Some((all.collect::<Vec<_>>().join(", "), words.why.clone()?))
    });
    let all = [
        ("name", text(&facts.name)),
        ("profile", text(&facts.profile)),
        ("base", text(&facts.base)),
        ("ready", text(&facts.ready)),
        ("submit", text(&facts.submit)),
        ("key", key),
        ("body", body),
        ("job", text(&facts.job)),
        ("state", text(&facts.state)),
        ("result", text(&facts.result)),
        ("read", text(&facts.read)),
        ("cancel", text(&facts.cancel)),
        ("states", words),
        ("auth", auth),
    ];
    let told = all.into_iter().filter_map(|(what, guess)| guess.map(|(value, why)| (what, value, why)));
    told.map(|(what, value, why)| format!("  {what:<8} {value}  ({why})")).collect()
}
