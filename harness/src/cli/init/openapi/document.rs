//! An `OpenAPI` document: 3.1, 3.0, or a Swagger 2.0 one as far as they agree. Only the few parts that a mapping needs.

use std::path::Path;

use serde_json::Value;

use crate::fail::{Code, Fault};

/// How many references may lead to one another.
const HOPS: usize = 16;
/// The largest document that is read: far beyond what people publish.
const LARGEST: u64 = 32 * 1024 * 1024;

/// YAML 1.2, as the specification wants it: `n` and `no` are words.
fn yaml() -> serde_saphyr::Options {
    serde_saphyr::options! { strict_booleans: true }
}

/// A document that was read.
#[derive(Debug)]
pub(in super::super) struct Document {
    root: Value,
    source: String,
}

impl Document {
    /// Reads a file, JSON or YAML.
    pub(in super::super) fn read(path: &Path) -> Result<Self, Fault> {
        let source = path.display().to_string();
        let unreadable = |error: std::io::Error| {
            let help = "name the file of an OpenAPI document; most frameworks serve theirs as /openapi.json";
            Fault::new(Code::OpenApi, format!("the OpenAPI document {source} can't be read"), help)
                .because(error)
        };
        let length = std::fs::metadata(path).map_err(unreadable)?.len();
        if length > LARGEST {
            let message = format!("the OpenAPI document {source} has {length} bytes");
            return Err(Fault::new(Code::OpenApi, message, "a document of at most 32 MiB is read"));
        }
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        Self::parse(&source, &text)
    }

    /// Reads a text. JSON is YAML too, but its own parser tells better what is wrong with it.
    pub(in super::super) fn parse(source: &str, text: &str) -> Result<Self, Fault> {
        let malformed = |error: Box<dyn std::error::Error + Send + Sync>| {
            let message = format!("{source} is neither JSON nor YAML");
            Fault::new(Code::OpenApi, message, "is it an OpenAPI document?").because(error)
        };
        let root: Value = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| malformed(error.into()))?
        } else {
            serde_saphyr::from_str_with_options(text, yaml())
                .map_err(|error| malformed(error.to_string().into()))?
        };
        let versioned = ["openapi", "swagger"].iter().any(|key| root.get(key).is_some());
        if !versioned || !root.get("paths").is_some_and(Value::is_object) {
            let message =
                format!("{source} is no OpenAPI document: it has no `openapi` version or no `paths`");
            return Err(Fault::new(Code::OpenApi, message, "most frameworks serve theirs as /openapi.json"));
        }
        Ok(Self { root, source: source.to_owned() })
    }

    #[cfg(test)]
    pub(super) fn root_of_tests(&self) -> &Value {
        &self.root
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    pub(super) fn title(&self) -> Option<&str> {
        self.root.pointer("/info/title")?.as_str()
    }

    /// The first server that is an address.
    pub(super) fn server(&self) -> Option<&str> {
        let servers = self.root.get("servers").and_then(Value::as_array).into_iter().flatten();
        let urls = servers.filter_map(|server| server.get("url")?.as_str());
        let whole = |url: &&str| url.starts_with("http") && !url.contains('{');
        urls.into_iter().find(whole).map(|url| url.trim_end_matches('/'))
    }

    /// Paths and what they hold, in the order of the document.
    pub(super) fn paths(&self) -> impl Iterator<Item = (&str, &Value)> {
        let paths = self.root.get("paths").and_then(Value::as_object).into_iter().flatten();
        paths.map(|(path, item)| (path.as_str(), self.resolved(item)))
    }

    pub(super) fn operation(&self, path: &str, method: &str) -> Option<&Value> {
        let (_, item) = self.paths().find(|(known, _)| *known == path)?;
        item.get(method)
    }

    /// The parameters of an operation and of its path.
    pub(super) fn parameters<'d>(&'d self, path: &str, operation: &'d Value) -> Vec<&'d Value> {
        let shared = self.paths().find(|(known, _)| *known == path).map(|(_, item)| item);
        let of = |holder: &'d Value| holder.get("parameters").and_then(Value::as_array).into_iter().flatten();
        let all = of(operation).chain(shared.into_iter().flat_map(of));
        all.map(|parameter| self.resolved(parameter)).collect()
    }

    /// The value that a reference leads to; the value itself where it is none.
    pub(super) fn resolved<'d>(&'d self, value: &'d Value) -> &'d Value {
        let mut at = value;
        for _ in 0..HOPS {
            let Some(reference) = at.get("$ref").and_then(Value::as_str) else { return at };
            // A reference into another file stays as it is: nothing is known about it.
            let Some(next) = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer))
            else {
                return at;
            };
            at = next;
        }
        at
    }

    /// The JSON schema of what an operation wants in its body.
    pub(super) fn body_schema<'d>(&'d self, operation: &'d Value) -> Option<&'d Value> {
        if let Some(body) = operation.get("requestBody") {
            return self.json_schema(self.resolved(body));
        }
        // Swagger 2.0 has the body among the parameters.
        let parameters = operation.get("parameters").and_then(Value::as_array)?;
        let body = parameters
            .iter()
            .map(|one| self.resolved(one))
            .find(|one| one.get("in") == Some(&"body".into()))?;
        body.get("schema").map(|schema| self.resolved(schema))
    }

    /// The schema of the answer that tells of success.
    pub(super) fn answer_schema<'d>(&'d self, operation: &'d Value) -> Option<&'d Value> {
        let answers = operation.get("responses").and_then(Value::as_object)?;
        let good = ["201", "202", "200", "2XX", "default"];
        good.iter()
            .filter_map(|status| answers.get(*status))
            .find_map(|answer| self.json_schema(self.resolved(answer)))
    }

    fn json_schema<'d>(&'d self, holder: &'d Value) -> Option<&'d Value> {
        let media = holder.get("content").and_then(Value::as_object);
        let json = media.and_then(|media| media.iter().find(|(name, _)| name.contains("json")));
        let schema = json.and_then(|(_, media)| media.get("schema")).or_else(|| holder.get("schema"))?;
        Some(self.resolved(schema))
    }

    /// Members of an object's schema by name, and which of them it requires. `allOf` is put together; of `anyOf` and
    /// `oneOf` the first that isn't null counts.
    pub(super) fn members<'d>(&'d self, schema: &'d Value) -> (Vec<(&'d str, &'d Value)>, Vec<&'d str>) {
        let mut members = Vec::new();
        let mut required = Vec::new();
        self.collect(schema, HOPS, &mut members, &mut required);
        (members, required)
    }

    fn collect<'d>(
        &'d self,
        schema: &'d Value,
        depth: usize,
        members: &mut Vec<(&'d str, &'d Value)>,
        required: &mut Vec<&'d str>,
    ) {
        let schema = self.resolved(schema);
        if depth == 0 {
            return;
        }
        for (name, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            members.push((name, member));
        }
        let named = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        required.extend(named.filter_map(Value::as_str));
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.collect(part, depth - 1, members, required);
        }
        if let Some(one) = self.one_of(schema) {
            self.collect(one, depth - 1, members, required);
        }
    }

    /// The first alternative that isn't null.
    pub(super) fn one_of<'d>(&'d self, schema: &'d Value) -> Option<&'d Value> {
        let alternatives = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array())?;
        let alternatives = alternatives.iter().map(|one| self.resolved(one));
        alternatives.into_iter().find(|one| one.get("type") != Some(&"null".into()))
    }

    /// Names of the security schemes that an operation wants.
    pub(super) fn security<'d>(&'d self, operation: &'d Value) -> Vec<&'d str> {
        let wanted = operation.get("security").or_else(|| self.root.get("security"));
        let sets = wanted.and_then(Value::as_array).into_iter().flatten();
        sets.filter_map(Value::as_object).flat_map(|set| set.keys().map(String::as_str)).collect()
    }

    pub(super) fn security_scheme(&self, name: &str) -> Option<&Value> {
        let holders = ["/components/securitySchemes", "/securityDefinitions"];
        holders.iter().find_map(|at| self.root.pointer(at)?.get(name)).map(|scheme| self.resolved(scheme))
    }
}
