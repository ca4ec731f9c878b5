//! Which part of JSON Schema a provider enforces.

use serde::Deserialize;

/// The part of JSON Schema that a provider takes, and what it does with the rest. The default takes everything.
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a provider")]
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SchemaSubset {
    /// When given: the only keywords that it knows.
    pub keywords: Option<Vec<String>>,
    /// What it does with a keyword that it does not know.
    pub otherwise: Otherwise,
    /// Keywords that make every call an error, whatever `otherwise` says.
    pub rejects: Vec<String>,
    /// Keywords that it takes and does not enforce.
    pub ignores: Vec<String>,
    /// The values of `format` that it takes.
    pub formats: Option<Vec<String>>,
    /// What `additionalProperties` must be.
    pub additional_properties: AdditionalProperties,
    /// Every property must be in `required`.
    pub all_required: bool,
    /// The root must be an object, and no `anyOf`.
    pub object_root: bool,
    /// `$ref` must stand alone.
    pub ref_alone: bool,
    /// A schema must not contain itself.
    pub no_recursion: bool,
    /// `{}` is rejected.
    pub no_empty_schema: bool,
    /// `type` must be one name, not a list.
    pub one_type: bool,
    /// Members of `enum` must be strings.
    pub enum_strings_only: bool,
    /// The largest `minItems`.
    pub max_min_items: Option<u64>,
    /// `pattern` must start with ^ and end with $.
    pub anchored_patterns: bool,
    /// Regular expressions must not look around.
    pub no_look_around: bool,
    /// Levels of nesting.
    pub max_depth: Option<usize>,
    /// Properties in all objects together.
    pub max_properties: Option<usize>,
    /// Members of all `enum`s together.
    pub max_enum_values: Option<usize>,
}

/// What a provider does with a keyword outside of its subset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Otherwise {
    /// Takes the schema and does not enforce the keyword.
    #[default]
    Ignores,
    /// Answers every call with an error.
    Rejects,
}

/// What a provider wants `additionalProperties` to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdditionalProperties {
    /// Anything.
    #[default]
    Any,
    /// `false`, written out in every object.
    WrittenFalse,
    /// Not `true` and no schema; absent means false.
    NotTrue,
    /// The keyword must not be there.
    Absent,
}
