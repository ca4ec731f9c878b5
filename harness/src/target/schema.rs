//! The JSON Schema of target files, for editors.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::TargetFile;

/// The schema of a target file.
#[must_use]
pub fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<TargetFile>().to_value();
    schema["title"] = "onejob target".into();
    schema
}
