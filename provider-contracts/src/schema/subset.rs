//! What a provider makes of a schema, before any call is paid for.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::dialect::{AdditionalProperties, Otherwise, SchemaSubset};

/// What a provider makes of a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubsetReport {
    /// Every call would be an error: where and why.
    pub rejected: Vec<(String, String)>,
    /// Taken and not enforced: where and which keyword.
    pub unenforced: Vec<(String, String)>,
}

/// Keywords that say nothing about a value.
const ANNOTATIONS: [&str; 11] = [
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
];

/// Walks `schema` and compares it with what the provider takes.
#[must_use]
pub fn lint_subset(schema: &Value, subset: &SchemaSubset) -> SubsetReport {
    let mut walk = Walk {
        subset,
        root: schema,
        report: SubsetReport::default(),
        properties: 0,
        enum_values: 0,
        deepest: 0,
    };
    if subset.object_root {
        let object = schema.get("type").and_then(Value::as_str) == Some("object");
        if !object || schema.get("anyOf").is_some() {
            walk.reject("", "the root must be an object and no anyOf");
        }
    }
    walk.node(schema, "", 1, &mut Vec::new());
    walk.ceilings();
    walk.report
}

struct Walk<'a> {
    subset: &'a SchemaSubset,
    root: &'a Value,
    report: SubsetReport,
    properties: usize,
    enum_values: usize,
    deepest: usize,
}

impl<'a> Walk<'a> {
    fn reject(&mut self, place: &str, why: impl Into<String>) {
        let shown = if place.is_empty() { "/" } else { place };
        self.report.rejected.push((shown.to_owned(), why.into()));
    }

    fn node(&mut self, schema: &'a Value, place: &str, depth: usize, through: &mut Vec<&'a str>) {
        let Some(object) = schema.as_object() else { return };
        self.deepest = self.deepest.max(depth);
        if object.is_empty() && self.subset.no_empty_schema {
            self.reject(place, "an empty schema, which allows anything, is rejected");
        }
        self.keywords(object, place);
        self.values(object, place);
        self.object_rules(object, place);
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            self.reference(object, reference, place, depth, through);
        }
        for (key, child) in object {
            let below = format!("{place}/{key}");
            match key.as_str() {
                "properties" | "patternProperties" => {
                    for (name, child) in child.as_object().into_iter().flatten() {
                        self.properties += 1;
                        self.node(child, &format!("{below}/{name}"), depth + 1, through);
                    }
                }
                "items"
                | "additionalProperties"
                | "contains"
                | "not"
                | "if"
                | "then"
                | "else"
                | "propertyNames" => {
                    self.node(child, &below, depth + 1, through);
                }
                "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                    for (index, child) in child.as_array().into_iter().flatten().enumerate() {
                        self.node(child, &format!("{below}/{index}"), depth, through);
                    }
                }
                _ => {}
            }
        }
    }

    fn reference(
        &mut self,
        object: &'a Map<String, Value>,
        reference: &'a str,
        place: &str,
        depth: usize,
        through: &mut Vec<&'a str>,
    ) {
        if self.subset.ref_alone
            && object.keys().any(|key| key != "$ref" && !ANNOTATIONS.contains(&key.as_str()))
        {
            self.reject(place, "$ref must stand alone");
        }
        if through.contains(&reference) {
            if self.subset.no_recursion {
                self.reject(place, format!("{reference} contains itself, and recursion is rejected"));
            }
            return;
        }
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        if let Some(target) = target {
            through.push(reference);
            self.node(target, place, depth, through);
            through.pop();
        }
    }

    fn keywords(&mut self, object: &Map<String, Value>, place: &str) {
        for key in object.keys().filter(|key| !matches!(key.as_str(), "additionalProperties")) {
            let rejected = self.subset.rejects.iter().any(|name| name == key);
            let ignored = self.subset.ignores.iter().any(|name| name == key);
            let outside = self.subset.keywords.as_ref().is_some_and(|known| !known.contains(key));
            let annotation = ANNOTATIONS.contains(&key.as_str());
            if rejected || (outside && !ignored && self.subset.otherwise == Otherwise::Rejects) {
                self.reject(place, format!("the keyword `{key}` is rejected"));
            } else if (ignored || outside) && !annotation {
                self.report.unenforced.push((place.to_owned(), key.clone()));
            }
        }
    }

    fn values(&mut self, object: &Map<String, Value>, place: &str) {
        if let Some(format) = object.get("format").and_then(Value::as_str)
            && self.subset.formats.as_ref().is_some_and(|known| !known.iter().any(|name| name == format))
        {
            if self.subset.otherwise == Otherwise::Rejects || self.subset.all_required {
                self.reject(place, format!("the format `{format}` is rejected"));
            } else {
                self.report.unenforced.push((place.to_owned(), format!("format: {format}")));
            }
        }
        if self.subset.one_type && object.get("type").is_some_and(Value::is_array) {
            self.reject(place, "`type` must be one name, not a list: write nullable");
        }
        if let Some(members) = object.get("enum").and_then(Value::as_array) {
            self.enum_values += members.len();
            if self.subset.enum_strings_only && members.iter().any(|member| !member.is_string()) {
                self.reject(place, "members of enum must be strings");
            }
        }
        if let (Some(most), Some(least)) =
            (self.subset.max_min_items, object.get("minItems").and_then(Value::as_u64))
            && least > most
        {
            self.reject(place, format!("minItems may be at most {most}"));
        }
        if let Some(pattern) = object.get("pattern").and_then(Value::as_str) {
            if self.subset.no_look_around
                && ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| pattern.contains(look))
            {
                self.reject(place, format!("the pattern {pattern} looks around"));
            }
            if self.subset.anchored_patterns && !(pattern.starts_with('^') && pattern.ends_with('$')) {
                self.report.unenforced.push((place.to_owned(), format!("pattern {pattern} without ^ and $")));
            }
        }
        let items_elsewhere = object.contains_key("items")
            && object.get("type").and_then(Value::as_str).is_some_and(|name| name != "array");
        if items_elsewhere && self.subset.otherwise == Otherwise::Rejects {
            self.reject(place, "`items` on something that is no array");
        }
    }

    fn object_rules(&mut self, object: &Map<String, Value>, place: &str) {
        let Some(properties) = object.get("properties").and_then(Value::as_object) else { return };
        let additional = object.get("additionalProperties");
        let wrong = match self.subset.additional_properties {
            AdditionalProperties::WrittenFalse if additional != Some(&Value::Bool(false)) => {
                Some("additionalProperties must be false, written out")
            }
            AdditionalProperties::NotTrue if !matches!(additional, None | Some(Value::Bool(false))) => {
                Some("additionalProperties must be false or absent")
            }
            AdditionalProperties::Absent if additional.is_some() => {
                Some("additionalProperties is unknown here")
            }
            _ => None,
        };
        if let Some(why) = wrong {
            self.reject(place, why);
        }
        if self.subset.all_required {
            let required: BTreeSet<&str> = object
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            for name in properties.keys().filter(|name| !required.contains(name.as_str())) {
                self.reject(
                    place,
                    format!("`{name}` must be in required: write a nullable type instead of an optional key"),
                );
            }
        }
    }

    fn ceilings(&mut self) {
        let ceilings = [
            (self.subset.max_depth, self.deepest, "levels of nesting"),
            (self.subset.max_properties, self.properties, "properties"),
            (self.subset.max_enum_values, self.enum_values, "enum values"),
        ];
        for (most, found, what) in ceilings {
            if let Some(most) = most
                && found > most
            {
                self.reject("", format!("{found} {what}, and at most {most} are taken"));
            }
        }
    }
}
