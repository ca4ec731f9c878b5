//! The suite that comes with the program, and scenario files of one's own.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::{ScenarioFile, load_file, load_str};
use crate::fail::{Code, Fault};

include!(concat!(env!("OUT_DIR"), "/embedded_scenarios.rs"));

/// How deep folders of scenarios may be nested; a loop of links ends there.
const DEPTH: usize = 16;

/// The suite that comes with the program, by folder and name.
pub fn embedded() -> Result<Vec<ScenarioFile>, Fault> {
    let files = EMBEDDED.iter().map(|(name, text)| load_str(&format!("embedded:{name}"), text));
    unique(files.collect::<Result<_, _>>()?)
}

/// Scenario files of one's own: a file, or all `*.toml` in a folder and below, by folder and name. Hidden files and
/// folders are left out.
pub fn discover(path: &Path) -> Result<Vec<ScenarioFile>, Fault> {
    let mut found = Vec::new();
    if path.is_dir() {
        walk(path, DEPTH, &mut found).map_err(|error| {
            let message = format!("the folder {} can't be listed", path.display());
            Fault::new(Code::ScenarioUnreadable, message, "check that you may read it").because(error)
        })?;
        if found.is_empty() {
            let message = format!("there is no scenario file in {}", path.display());
            return Err(Fault::new(Code::ScenarioNowhere, message, "scenario files end in .toml"));
        }
        found.sort_by(|one, other| (one.parent(), one.file_name()).cmp(&(other.parent(), other.file_name())));
    } else {
        found.push(path.to_owned());
    }
    unique(found.iter().map(|path| load_file(path)).collect::<Result<_, _>>()?)
}

/// The same files, or an error where two have the same id.
pub fn unique(files: Vec<ScenarioFile>) -> Result<Vec<ScenarioFile>, Fault> {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for file in &files {
        let Some(id) = file.id() else { continue };
        if let Some(other) = seen.insert(id.to_owned(), file.source().to_owned()) {
            let message = format!("the scenario id `{id}` is taken: {other} has it too");
            let help = "ids name scenarios on the command line and in reports; give each file its own";
            return Err(Fault::new(Code::ScenarioTwice, message, help).at(file.place_of_id()));
        }
    }
    Ok(files)
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden {
            continue;
        }
        if path.is_dir() {
            if depth > 0 {
                walk(&path, depth - 1, found)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            found.push(path);
        }
    }
    Ok(())
}
