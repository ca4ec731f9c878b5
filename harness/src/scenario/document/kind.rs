//! Kinds of files: which codes their mistakes have and how their parts are called.

use std::{fs, path::Path};

use serde::de::DeserializeOwned;

use super::{
    de::Reader,
    near::nearest,
    tree::Node,
    wrong::{What, Wrong},
};
use crate::fail::{Code, Fault, Text};

/// A kind of file that people write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    /// `scenario file`.
    pub noun: &'static str,
    /// It is not TOML.
    pub not_toml: Code,
    /// A key means nothing.
    pub unknown_key: Code,
    /// A value is of the wrong kind.
    pub wrong_value: Code,
    /// A key is missing.
    pub missing_key: Code,
    /// It can't be read.
    pub unreadable: Code,
    /// What the parts are called, by the name of their Rust type.
    pub parts: &'static [(&'static str, &'static str)],
    /// The JSON Schema, which knows what each key means.
    pub schema: fn() -> serde_json::Value,
}

/// The longest file that is read, in bytes. The longest of the suite has four thousand.
const LONGEST: u64 = 4 << 20;

/// Reads a file as text.
pub(crate) fn read_text(kind: &Kind, path: &Path) -> Result<String, Fault> {
    let name = path.display();
    let refused = |message: String, help: &str| Err(Fault::new(kind.unreadable, message, help));
    // A pipe or a device may never end, and whoever names one has mistyped.
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            return refused(
                format!("the {} {name} can't be read: it is no file", kind.noun),
                "name a file; a folder of scenarios is fine where scenarios are asked for, a pipe or device is not",
            );
        }
        Ok(found) if found.len() > LONGEST => {
            return refused(
                format!("the {} {name} has {} bytes, and at most {LONGEST} are read", kind.noun, found.len()),
                "check that it is the file that you mean",
            );
        }
        _ => {}
    }
    let bytes = fs::read(path).map_err(|error| {
        let help = if error.kind() == std::io::ErrorKind::NotFound {
            "check the path; it is relative to the folder in which onejob was started"
        } else {
            "check that it is a file and that you may read it"
        };
        Fault::new(kind.unreadable, format!("the {} {name} can't be read", kind.noun), help).because(error)
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Fault::new(
            kind.unreadable,
            format!("the {} {name} is not UTF-8: byte {at} is not part of a character", kind.noun),
            "save it as UTF-8; TOML knows no other encoding",
        )
    })
}

impl Kind {
    /// The document's tree.
    pub(crate) fn parse(&self, text: &Text) -> Result<Node, Fault> {
        Node::parse(text.content()).map_err(|error| {
            let message = format!("{} is not TOML: {}", text.name(), error.message().replace('\n', ", "));
            let fault = Fault::new(self.not_toml, message, "TOML is described at https://toml.io/en/v1.0.0");
            fault.at(text.place(error.span().unwrap_or_default()))
        })
    }

    /// A model out of a tree.
    pub(crate) fn read<T: DeserializeOwned>(&self, text: &Text, node: &Node) -> Result<T, Fault> {
        T::deserialize(Reader(node)).map_err(|wrong| self.fault(text, &wrong))
    }

    fn part(&self, within: Option<&'static str>) -> String {
        let known = within.and_then(|name| self.parts.iter().find(|(rust, _)| *rust == name));
        known.map_or_else(|| format!("this {}", self.noun), |(_, part)| (*part).to_owned())
    }

    fn fault(&self, text: &Text, wrong: &Wrong) -> Fault {
        let place = text.place(wrong.span.clone().unwrap_or_default());
        let part = self.part(wrong.within);
        let fault = match &wrong.what {
            What::Key { key, allowed } => {
                let message = format!("unknown key `{key}` in {part}");
                match nearest(key, allowed.iter().copied()) {
                    Some(meant) => {
                        let help =
                            format!("`{meant}`:{}\n{}", self.meaning(wrong.within, meant), list(allowed));
                        Fault::new(self.unknown_key, message, help).label(format!("did you mean `{meant}`?"))
                    }
                    None => {
                        Fault::new(self.unknown_key, message, list(allowed)).label("not a key that it knows")
                    }
                }
            }
            What::Missing { key } => {
                let meaning = self.meaning(wrong.within, key);
                let help = format!("add `{key}`.{meaning}");
                Fault::new(self.missing_key, format!("`{key}` is missing in {part}"), help)
                    .label(format!("has no `{key}`"))
            }
            What::Word { word, allowed } => {
                let message = format!("unknown word \"{word}\" in {part}");
                match nearest(word, allowed.iter().copied()) {
                    Some(meant) => Fault::new(self.wrong_value, message, list(allowed))
                        .label(format!("did you mean \"{meant}\"?")),
                    None => {
                        Fault::new(self.wrong_value, message, list(allowed)).label("not a word that it knows")
                    }
                }
            }
            What::Type { found, expected } => Fault::new(
                self.wrong_value,
                format!("{found} stands in {part} where {expected} must stand"),
                format!("write {expected}"),
            )
            .label(format!("must be {expected}")),
            What::Other(message) => {
                Fault::new(self.wrong_value, message.clone(), format!("correct it in {part}"))
            }
        };
        fault.at(place)
    }

    /// What a key means, from the schema's description of it.
    fn meaning(&self, within: Option<&str>, key: &str) -> String {
        let schema = (self.schema)();
        let part = within.and_then(|name| schema.pointer(&format!("/$defs/{name}"))).unwrap_or(&schema);
        part.pointer(&format!("/properties/{key}/description"))
            .and_then(serde_json::Value::as_str)
            .map(|meaning| format!(" {}", meaning.lines().collect::<Vec<_>>().join(" ")))
            .unwrap_or_default()
    }
}

fn list(allowed: &[&str]) -> String {
    format!("allowed here: {}", allowed.join(", "))
}
