//! `${NAME}` and `${NAME:-default}`: variables of the environment.

use super::{Hidden, kind::KIND};
use crate::{
    fail::{Code, Fault, Text},
    scenario::document::{Node, Value},
};

/// Replaces the variables in every text of a tree. Values of those named in `secrets` are put into `hidden`.
pub(super) fn fill(
    text: &Text,
    root: &mut Node,
    look_up: &dyn Fn(&str) -> Option<String>,
    hidden: &mut Hidden,
) -> Result<(), Fault> {
    let secrets: Vec<String> = match root.get("target").and_then(|target| target.get("secrets")) {
        Some(names) => KIND.read(text, names)?,
        None => Vec::new(),
    };
    for value in secrets.iter().filter_map(|name| look_up(name)) {
        hidden.add(&value);
    }
    root.each_text(&|_| false, &mut |node, _| {
        let Some(template) = node.text() else { return Ok(()) };
        let filled = replace(template, look_up, &mut |name, value| {
            if secrets.iter().any(|secret| secret == name) {
                hidden.add(value);
            }
        });
        match filled {
            Ok(filled) => {
                node.value = Value::Text(filled);
                Ok(())
            }
            Err(wrong) => Err(wrong.fault().at(text.place(node.span.clone()))),
        }
    })
}

#[derive(Debug, PartialEq, Eq)]
enum Wrong {
    Unset(String),
    Malformed(String),
}

impl Wrong {
    fn fault(self) -> Fault {
        match self {
            Self::Unset(name) => Fault::new(
                Code::TargetVariable,
                format!("the environment variable `{name}` is not set"),
                format!("set it, or give it a default here: `${{{name}:-default}}`"),
            )
            .label("needs it"),
            Self::Malformed(rest) => Fault::new(
                Code::TargetVariable,
                format!("`{rest}` is no reference to an environment variable"),
                "write `${NAME}` or `${NAME:-default}`; a plain dollar sign is `$$`",
            ),
        }
    }
}

fn replace(
    template: &str,
    look_up: &dyn Fn(&str) -> Option<String>,
    used: &mut dyn FnMut(&str, &str),
) -> Result<String, Wrong> {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(dollar) = rest.find('$') {
        filled.push_str(&rest[..dollar]);
        rest = &rest[dollar..];
        if let Some(after) = rest.strip_prefix("$$") {
            filled.push('$');
            rest = after;
        } else if let Some(after) = rest.strip_prefix("${") {
            let Some(close) = after.find('}') else { return Err(Wrong::Malformed(rest.to_owned())) };
            let (name, default) = match after[..close].split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (&after[..close], None),
            };
            if !is_name(name) {
                return Err(Wrong::Malformed(rest[..close + 3].to_owned()));
            }
            // As in a shell, `:-` also stands in for what is set to nothing.
            let set = look_up(name).filter(|value| default.is_none() || !value.is_empty());
            let value =
                set.or_else(|| default.map(str::to_owned)).ok_or_else(|| Wrong::Unset(name.to_owned()))?;
            used(name, &value);
            filled.push_str(&value);
            rest = &after[close + 1..];
        } else {
            // `$1` of an SQL text, the end of a regular expression.
            filled.push('$');
            rest = &rest[1..];
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(template: &str) -> Result<String, Wrong> {
        let look_up = |name: &str| match name {
            "SET" => Some("value".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        replace(template, &look_up, &mut |_, _| {})
    }

    #[test]
    fn set_variables_and_defaults_are_put_in() {
        assert_eq!(with("a ${SET} b"), Ok("a value b".into()));
        assert_eq!(with("${SET:-x}${NOT:-y}"), Ok("valuey".into()));
        assert_eq!(with("${EMPTY:-y}"), Ok("y".into()));
        assert_eq!(with("${EMPTY}"), Ok(String::new()));
        assert_eq!(with("${NOT:-}"), Ok(String::new()));
    }

    #[test]
    fn other_dollar_signs_stay() {
        for text in ["$1 and $2", "^x$", "5 $", "$NAME"] {
            assert_eq!(with(text), Ok(text.into()));
        }
        assert_eq!(with("$${SET}"), Ok("${SET}".into()));
    }

    #[test]
    fn what_is_not_set_or_malformed_is_told() {
        assert_eq!(with("${NOT}"), Err(Wrong::Unset("NOT".into())));
        assert_eq!(with("${NOT"), Err(Wrong::Malformed("${NOT".into())));
        assert_eq!(with("a ${A B} c"), Err(Wrong::Malformed("${A B}".into())));
        assert_eq!(with("${}"), Err(Wrong::Malformed("${}".into())));
    }
}
