//! serde over the tree.

use std::ops::Range;

use serde::{
    Deserializer,
    de::{
        DeserializeSeed, Error as _, IntoDeserializer as _, MapAccess, SeqAccess, Unexpected, Visitor,
        value::StrDeserializer,
    },
    forward_to_deserialize_any,
};

use super::{
    tree::{Entry, Node, Value},
    wrong::Wrong,
};

/// Reads a serde model from a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a Node);

impl Reader<'_> {
    fn visit<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match &self.0.value {
            Value::Text(text) => visitor.visit_str(text),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Switch(switch) => visitor.visit_bool(*switch),
            Value::Moment(_) => {
                Err(Wrong::invalid_type(Unexpected::Other("a date or time without quotes"), &visitor))
            }
            Value::Huge(_) => {
                Err(Wrong::invalid_type(Unexpected::Other("a number beyond 64 bits"), &visitor))
            }
            Value::List(elements) => visitor.visit_seq(Elements(elements.iter())),
            Value::Table(entries) => visitor.visit_map(Entries { rest: entries.iter(), now: None }),
        }
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.visit(visitor).map_err(|wrong| wrong.or_at(&self.0.span))
    }

    // TOML has no null: what is there is there.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.deserialize_any(visitor).map_err(|wrong| wrong.or_within(name))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        let read = match &self.0.value {
            Value::Text(word) => {
                let word: StrDeserializer<'_, Wrong> = word.as_str().into_deserializer();
                visitor.visit_enum(word)
            }
            // Every enum of the files is a plain word, so the visitor's own complaint is the right one.
            _ => self.visit(visitor),
        };
        read.map_err(|wrong| wrong.or_at(&self.0.span))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

struct Elements<'a>(std::slice::Iter<'a, Node>);

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Wrong;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Wrong> {
        let Some(node) = self.0.next() else { return Ok(None) };
        seed.deserialize(Reader(node)).map(Some).map_err(|wrong| wrong.or_at(&node.span))
    }
}

struct Entries<'a> {
    rest: std::slice::Iter<'a, Entry>,
    now: Option<&'a Entry>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Wrong> {
        self.now = self.rest.next();
        let Some(entry) = self.now else { return Ok(None) };
        let span: &Range<usize> = &entry.key_span;
        let key: StrDeserializer<'_, Wrong> = entry.key.as_str().into_deserializer();
        seed.deserialize(key).map(Some).map_err(|wrong| wrong.or_at(span))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Wrong> {
        match self.now.take() {
            // What a type finds wrong with a text that it parses itself has no place of its own.
            Some(entry) => {
                seed.deserialize(Reader(&entry.node)).map_err(|wrong| wrong.or_at(&entry.node.span))
            }
            None => Err(Wrong::custom("a value was asked for before its key")),
        }
    }
}
