use serde_json::Value;

use super::Line;
use crate::model::RunReport;

/// The JSON Schema (2020-12) of a report.
#[must_use]
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(RunReport);
    schema.insert("title".into(), "Report of a onejob run".into());
    schema.to_value()
}

/// The JSON Schema (2020-12) of one line of the NDJSON form.
#[must_use]
pub fn line_schema() -> Value {
    let mut schema = schemars::schema_for!(Line);
    schema.insert("title".into(), "One line of a onejob run's report".into());
    schema.to_value()
}
