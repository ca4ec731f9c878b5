//! Reading target files.

use std::path::Path;

use super::{Hidden, TargetFile, check, kind::KIND, overlay, variables};
use crate::{
    fail::{Fault, Text},
    scenario::document::read_text,
};

/// The target file of the reference service, as anyone may print and copy it.
pub const REFERENCE: &str = include_str!("reference.toml");

/// Reads a target file from a text, with variables from the environment. `name` is how messages call it.
pub fn load_str(name: &str, content: &str) -> Result<TargetFile, Fault> {
    load_with(name, content, &|variable| std::env::var(variable).ok())
}

/// Reads a target file, with variables from the environment.
pub fn load_file(path: &Path) -> Result<TargetFile, Fault> {
    let mut file = load_str(&path.display().to_string(), &read_text(&KIND, path)?)?;
    if let (Some(command), Some(beside)) = (&mut file.target.command, path.parent()) {
        // A file in the working folder has a parent without a name.
        let folder = command.folder.take().map(|folder| beside.join(folder).display().to_string());
        command.folder = folder.filter(|folder| !folder.is_empty());
    }
    if let (Some(ca), Some(beside)) = (&mut file.target.ca, path.parent()) {
        *ca = beside.join(&*ca).display().to_string();
    }
    Ok(file)
}

/// The built-in target: the reference service.
pub fn reference() -> Result<TargetFile, Fault> {
    load_str("embedded:reference.toml", REFERENCE)
}

/// Reads a target file from a text, with variables from `look_up`.
pub fn load_with(
    name: &str,
    content: &str,
    look_up: &dyn Fn(&str) -> Option<String>,
) -> Result<TargetFile, Fault> {
    let text = Text::new(name, content);
    let mut root = KIND.parse(&text)?;
    let mut hidden = Hidden::default();
    variables::fill(&text, &mut root, look_up, &mut hidden)?;
    let read: Result<TargetFile, Fault> = KIND.read(&text, &root);
    let mut file = read.map_err(|fault| fault.hiding(&hidden))?;
    file.target.race = file.target.race.map(|race| overlay(&file.target.submit, &race));
    for owner in &file.owner {
        let token = owner.token.as_deref().unwrap_or_default();
        hidden.add(token);
        // A header that holds more than the token is a secret of its own.
        for value in owner.headers.values() {
            hidden.add(&value.replace("{token}", token));
        }
    }
    if let Some(secret) = file.provider.as_ref().and_then(|provider| provider.callback_secret.as_deref()) {
        hidden.add(secret);
    }
    let findings = check::check(&file);
    let faults = findings.into_iter().map(|finding| finding.in_file(&text, &root).hiding(&hidden));
    if let Some(fault) = Fault::together(faults.collect()) {
        return Err(fault);
    }
    file.hidden = hidden;
    Ok(file)
}
