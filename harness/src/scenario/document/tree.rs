//! A TOML document as a tree in the order of the file.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// Bytes of the value; for a table with a header, of the header.
    pub span: Range<usize>,
    /// The value.
    pub value: Value,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// A string.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// `true` or `false`.
    Switch(bool),
    /// A date or a time, as it is written. No file has a use for one.
    Moment(String),
    /// A whole number beyond 64 bits, as it is written.
    Huge(String),
    /// An array, or several tables with the same header in double brackets.
    List(Vec<Node>),
    /// A table, in the order of the file.
    Table(Vec<Entry>),
}

/// A key of a table and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The key.
    pub key: String,
    /// Bytes of the key.
    pub key_span: Range<usize>,
    /// The value.
    pub node: Node,
}

/// One step of a path into a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// Into a table.
    Key(&'a str),
    /// Into an array, from 0.
    Index(usize),
}

impl<'a> From<&'a str> for Step<'a> {
    fn from(key: &'a str) -> Self {
        Self::Key(key)
    }
}

impl From<usize> for Step<'_> {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

impl Node {
    /// Reads a document.
    pub(super) fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let document = DeTable::parse(text)?;
        let span = document.span();
        Ok(Self { span, value: table(document.into_inner()) })
    }

    /// The entries of a table; none for any other value.
    #[must_use]
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The elements of an array; none for any other value.
    #[must_use]
    pub(crate) fn elements(&self) -> &[Self] {
        match &self.value {
            Value::List(elements) => elements,
            _ => &[],
        }
    }

    /// The value of a key of a table.
    #[must_use]
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The value of a key of a table, to be changed.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        match &mut self.value {
            Value::Table(entries) => {
                entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node)
            }
            _ => None,
        }
    }

    /// The text of a string.
    #[must_use]
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Bytes of what stands at the end of the path, or of the last thing on the way that is there.
    #[must_use]
    pub(crate) fn span_at(&self, path: &[Step<'_>]) -> Range<usize> {
        let mut node = self;
        for step in path {
            let next = match step {
                Step::Key(key) => node.get(key),
                Step::Index(index) => node.elements().get(*index),
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node.span.clone()
    }

    /// The document as JSON, for validation by a schema.
    #[must_use]
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Text(text) | Value::Moment(text) | Value::Huge(text) => text.as_str().into(),
            Value::Integer(number) => (*number).into(),
            Value::Float(number) => (*number).into(),
            Value::Switch(switch) => (*switch).into(),
            Value::List(elements) => elements.iter().map(Self::to_json).collect(),
            Value::Table(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect()
            }
        }
    }

    /// Changes every string in the tree except those below a key for which `skip` holds.
    pub(crate) fn each_text<E>(
        &mut self,
        skip: &impl Fn(&str) -> bool,
        change: &mut impl FnMut(&mut Self, Option<&str>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_below(None, skip, change)
    }

    fn each_below<E>(
        &mut self,
        key: Option<&str>,
        skip: &impl Fn(&str) -> bool,
        change: &mut impl FnMut(&mut Self, Option<&str>) -> Result<(), E>,
    ) -> Result<(), E> {
        match &mut self.value {
            Value::Text(_) => change(self, key),
            Value::List(elements) => {
                elements.iter_mut().try_for_each(|element| element.each_below(key, skip, change))
            }
            Value::Table(entries) => entries
                .iter_mut()
                .filter(|entry| !skip(&entry.key))
                .try_for_each(|entry| entry.node.each_below(Some(&entry.key), skip, change)),
            _ => Ok(()),
        }
    }
}

fn node(value: toml::Spanned<DeValue<'_>>) -> Node {
    let span = value.span();
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Value::Huge(number.to_string()), Value::Integer),
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(switch) => Value::Switch(switch),
        DeValue::Datetime(moment) => Value::Moment(moment.to_string()),
        DeValue::Array(elements) => Value::List(elements.into_iter().map(node).collect()),
        DeValue::Table(entries) => table(entries),
    };
    Node { span, value }
}

fn table(entries: DeTable<'_>) -> Value {
    let mut entries: Vec<_> = entries
        .into_iter()
        .map(|(key, value)| Entry {
            key_span: key.span(),
            key: key.into_inner().into_owned(),
            node: node(value),
        })
        .collect();
    // The parser sorts by key; messages and reports go by the file.
    entries.sort_by_key(|entry| entry.key_span.start);
    Value::Table(entries)
}
