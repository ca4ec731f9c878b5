//! Where the sheets of a command go.

use std::path::{Path, PathBuf};

use onejob_reports::{
    redact::Secrets,
    sheet::{Sheet, SheetFormat, UnknownSheetFormat, render},
};
use serde_json::Value;

use crate::{
    cli::common,
    fail::{Code, Fault},
};

/// What `--report FORMAT=PATH` named, for commands whose report isn't a run's.
///
/// ```text
/// let outputs = SheetOutputs::parse(&args.report)?; // before the work: a typing mistake must not cost it
/// outputs.write(sheet, json, &secrets)?;
/// ```
#[derive(Debug, Default)]
pub(in crate::cli) struct SheetOutputs(Vec<(Kind, PathBuf)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sheet(SheetFormat),
    Json,
}

impl SheetOutputs {
    pub(in crate::cli) fn parse(named: &[String]) -> Result<Self, Fault> {
        let output = |text: &String| {
            let wrong = |message: String| {
                Fault::new(Code::UnknownFormat, message, "write html=PATH, markdown=PATH or json=PATH")
            };
            let (name, path) = text
                .split_once('=')
                .filter(|(_, path)| !path.is_empty())
                .ok_or_else(|| wrong(format!("`--report {text}` names no file")))?;
            let kind = match name {
                "json" => Kind::Json,
                _ => Kind::Sheet(name.parse().map_err(|error: UnknownSheetFormat| wrong(error.to_string()))?),
            };
            let path = PathBuf::from(path);
            common::writable(&path).map_err(|error| unwritable(&path, error))?;
            Ok((kind, path))
        };
        Ok(Self(named.iter().map(output).collect::<Result<_, Fault>>()?))
    }

    /// Writes the sheet, or the same as JSON, to every place, without what is a secret or looks like one.
    pub(in crate::cli) fn write(&self, sheet: Sheet, json: Value, secrets: &Secrets) -> Result<(), Fault> {
        if self.0.is_empty() {
            return Ok(());
        }
        let (sheet, json) = (secrets.sheet(sheet), secrets.json(json));
        for (kind, path) in &self.0 {
            let mut page = Vec::new();
            match kind {
                Kind::Sheet(format) => {
                    render(&sheet, *format, &mut page).map_err(|error| unwritable(path, error))?;
                }
                Kind::Json => page.extend_from_slice(format!("{json:#}\n").as_bytes()),
            }
            common::write_whole(path, &page).map_err(|error| unwritable(path, error))?;
        }
        Ok(())
    }
}

fn unwritable(path: &Path, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Fault {
    Fault::new(
        Code::OutputUnwritable,
        format!("the report can't be written to {}", path.display()),
        "check that the folder exists and may be written to",
    )
    .because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_format_or_names_no_file_is_refused_before_any_work() {
        for wrong in ["html", "html=", "junit=x.xml"] {
            let fault = SheetOutputs::parse(&[wrong.to_owned()]).unwrap_err();
            assert_eq!(fault.code(), Code::UnknownFormat, "{wrong}");
        }
    }

    #[test]
    fn a_sheet_is_written_to_every_place_and_shows_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let places = ["html", "markdown", "json"].map(|name| folder.path().join(name));
        let named: Vec<String> = ["html", "markdown", "json"]
            .iter()
            .zip(&places)
            .map(|(format, path)| format!("{format}={}", path.display()))
            .collect();
        let said = "API_KEY=hunter2abc and s3cret-value";
        let sheet = Sheet::new("onejob x", onejob_reports::sheet::Tone::Good, "done", said);
        let json = serde_json::json!({ "title": "onejob x", "said": [said], "token": "hunter2abc" });
        let secrets = Secrets::new().value("s3cret-value");
        SheetOutputs::parse(&named).unwrap().write(sheet, json, &secrets).unwrap();
        for place in places {
            let page = std::fs::read_to_string(place).unwrap();
            assert!(page.contains("onejob x") && !page.contains("hunter2abc"), "{page}");
            assert!(!page.contains("s3cret-value"), "{page}");
        }
    }
}
