//! Reading a contract and the files that it names.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::{Case, Contract, ContractFile};
use crate::file::{Excerpt, FileError, read_text};

/// Reads a contract, its schema and its cases.
///
/// # Errors
/// With file, line, excerpt and a way out.
pub fn load(path: &Path) -> Result<Contract, FileError> {
    let source = read_text(path)?;
    let file = path.display().to_string();
    let spec: ContractFile =
        toml::from_str(&source).map_err(|error| FileError::toml(&file, &source, &error))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let (schema, schema_source) = schema(&spec, folder, &file, &source)?;
    let mut cases = spec.case.clone();
    let mut cases_source = None;
    if let Some(name) = &spec.cases {
        let (text, more) = jsonl(&folder.join(name))?;
        cases_source = Some(text);
        cases.extend(more);
    }
    let contract =
        Contract { spec, path: path.to_owned(), source, cases_source, schema, schema_source, cases };
    consistent(&contract, &file)?;
    Ok(contract)
}

/// The JSON Schema of a contract file.
#[cfg(feature = "schema")]
#[must_use]
pub fn file_schema() -> Value {
    schemars::schema_for!(ContractFile).to_value()
}

type SchemaAndText = (Option<Value>, Option<String>);

fn schema(spec: &ContractFile, folder: &Path, file: &str, source: &str) -> Result<SchemaAndText, FileError> {
    match (&spec.output.schema, &spec.output.inline_schema) {
        (Some(_), Some(_)) => Err(FileError::invalid(
            find(file, source, "inline_schema"),
            "`schema` and `inline_schema` are both given",
            "keep one of them",
        )),
        (Some(name), None) => {
            let path = folder.join(name);
            let text = read_text(&path)?;
            let shown = path.display().to_string();
            let value =
                serde_json::from_str(&text).map_err(|error| FileError::json(&shown, &text, &error))?;
            Ok((Some(value), Some(text)))
        }
        (None, Some(value)) => Ok((Some(value.clone()), Some(value.to_string()))),
        (None, None) => Ok((None, None)),
    }
}

fn jsonl(path: &Path) -> Result<(String, Vec<Case>), FileError> {
    let text = read_text(path)?;
    let shown = path.display().to_string();
    let mut cases = Vec::new();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() {
            let case = serde_json::from_str(line).map_err(|error| {
                let at = offset + error.column().saturating_sub(1).min(line.len());
                let excerpt = Excerpt::of(&shown, &text, at..at + 1);
                let help = if text.starts_with('\u{feff}') {
                    "the file begins with a byte order mark, which JSON does not have: save it as UTF-8 without one"
                } else {
                    "each line is one case as a JSON object"
                };
                FileError::invalid(excerpt, error.to_string(), help)
            })?;
            cases.push(case);
        }
        offset += line.len();
    }
    Ok((text, cases))
}

fn consistent(contract: &Contract, file: &str) -> Result<(), FileError> {
    let source = &contract.source;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if contract.name().is_empty() || !contract.name().chars().all(plain) {
        return Err(FileError::invalid(
            find(file, source, "name"),
            format!("`{}` is no name for a contract", contract.name()),
            "use lower-case letters, digits, dashes and underscores: files and attestations carry it",
        ));
    }
    let roles =
        contract.spec.prompt.messages.iter().chain(contract.cases.iter().flat_map(|case| &case.turns));
    for turn in roles {
        if !["system", "user", "assistant"].contains(&turn.role.as_str()) {
            return Err(FileError::invalid(
                find(file, source, &turn.role),
                format!("`{}` is no role", turn.role),
                "write system, user or assistant; the dialect translates it",
            ));
        }
        if let Err(problem) = crate::prompt::check_template(&turn.content) {
            let first = turn.content.lines().next().unwrap_or_default();
            return Err(FileError::invalid(
                find(file, source, first),
                problem,
                "prompts are minijinja templates over `input`; write {{ '{{' }} for literal braces",
            ));
        }
    }
    let mut names = BTreeSet::new();
    for case in &contract.cases {
        if !names.insert(&case.name) {
            return Err(FileError::invalid(
                find(file, source, &case.name),
                format!("two cases are called `{}`", case.name),
                "give each case a name of its own: cassettes and reports refer to it",
            ));
        }
    }
    Ok(())
}

/// The first place where `needle` stands, for errors that no parser gives a span for.
pub(super) fn find(file: &str, source: &str, needle: &str) -> Excerpt {
    let at = source.find(needle).unwrap_or(0);
    Excerpt::of(file, source, at..at + needle.len())
}
