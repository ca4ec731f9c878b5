//! Fills the placeholders of the target's command.

use std::{collections::BTreeMap, path::Path};

use crate::{
    fail::{Code, Fault},
    target::TargetFile,
};

/// Stands for a free port until the process is started.
pub(super) const PORT: &str = "{port}";

/// What the placeholders of a command stand for in one cell.
#[derive(Debug, Clone, Default)]
pub struct Placeholders {
    values: BTreeMap<String, String>,
    defects: Vec<String>,
}

impl Placeholders {
    /// Values that depend on the target file alone.
    #[must_use]
    pub fn of(
        file: &TargetFile,
        program: &Path,
        settings: &BTreeMap<String, String>,
        defects: &[String],
    ) -> Self {
        let mut values = BTreeMap::from([("onejob".to_owned(), program.display().to_string())]);
        // Each process gets a port of its own, when it is started.
        values.insert("port".to_owned(), PORT.to_owned());
        for owner in &file.owner {
            if let Some(token) = &owner.token {
                values.insert(format!("owner.{}.token", owner.name), token.clone());
            }
        }
        if let Some(secret) = file.provider.as_ref().and_then(|provider| provider.callback_secret.clone()) {
            values.insert("provider.callback_secret".to_owned(), secret);
        }
        for (name, value) in file.settings.iter().chain(settings) {
            values.insert(format!("settings.{name}"), value.clone());
        }
        Self { values, defects: defects.to_vec() }
    }

    /// Adds a value, for example `database.url`.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.values.insert(name.into(), value.into());
    }

    /// A value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Replaces every `{name}` in an argument. `{defects}` as a whole argument becomes two for each defect.
    pub fn argv(&self, templates: &[String]) -> Result<Vec<String>, Fault> {
        let mut argv = Vec::with_capacity(templates.len());
        for template in templates {
            if template == "{defects}" {
                argv.extend(self.defects.iter().flat_map(|name| ["--defect".to_owned(), name.clone()]));
            } else {
                argv.push(self.text(template)?);
            }
        }
        Ok(argv)
    }

    /// Replaces every `{name}` in a text. Braces around anything but a name stay as they are.
    pub fn text(&self, template: &str) -> Result<String, Fault> {
        let mut out = String::with_capacity(template.len());
        let mut rest = template;
        while let Some(open) = rest.find('{') {
            out.push_str(&rest[..open]);
            let after = &rest[open + 1..];
            let name = after.find('}').map(|close| &after[..close]).filter(|name| is_name(name));
            match name {
                None => {
                    out.push('{');
                    rest = after;
                }
                Some(name) => {
                    let value = self.values.get(name).ok_or_else(|| self.unknown(name, template))?;
                    out.push_str(value);
                    rest = &after[name.len() + 1..];
                }
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    fn unknown(&self, name: &str, template: &str) -> Fault {
        let known: Vec<_> = self.values.keys().map(String::as_str).collect();
        Fault::new(
            Code::TargetPlaceholder,
            format!("`{{{name}}}` in `{template}` of [target.command] stands for nothing here"),
            format!("known are: {}", known.join(", ")),
        )
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placeholders() -> Placeholders {
        let mut placeholders =
            Placeholders { defects: vec!["one".into(), "two".into()], ..Placeholders::default() };
        placeholders.set("database.url", "postgres://h/d");
        placeholders
    }

    #[test]
    fn names_in_braces_are_replaced_and_other_braces_stay() {
        let text = placeholders().text("--url={database.url} {\"json\": {}}").expect("known names only");
        assert_eq!(text, "--url=postgres://h/d {\"json\": {}}");
    }

    #[test]
    fn a_name_that_stands_for_nothing_is_told_with_the_known_ones() {
        let fault = placeholders().text("{databse.url}").expect_err("a misspelt name");
        assert!(fault.message().contains("{databse.url}"), "{fault}");
        assert!(fault.advice().contains("database.url"), "{}", fault.advice());
    }

    #[test]
    fn each_defect_becomes_a_flag_of_its_own() {
        let argv = placeholders().argv(&["serve".into(), "{defects}".into()]).expect("known names only");
        assert_eq!(argv, ["serve", "--defect", "one", "--defect", "two"]);
    }
}
