//! JSON to CEL.

use std::collections::HashMap;
use std::sync::Arc;

use cel::Value as CelValue;
use serde_json::Value;

/// JSON knows one kind of integer; CEL has two that do not mix, so all become the signed one.
pub(super) fn to_cel(value: &Value) -> Result<CelValue, String> {
    Ok(match value {
        Value::Null => CelValue::Null,
        Value::Bool(yes) => CelValue::Bool(*yes),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => CelValue::Int(integer),
            (None, _) if number.is_u64() => {
                return Err(format!("{number} does not fit a signed 64-bit integer"));
            }
            (None, Some(float)) => CelValue::Float(float),
            (None, None) => return Err(format!("{number} is no number that CEL holds")),
        },
        Value::String(text) => CelValue::String(Arc::new(text.clone())),
        Value::Array(items) => CelValue::List(Arc::new(items.iter().map(to_cel).collect::<Result<_, _>>()?)),
        Value::Object(members) => {
            let mut map = HashMap::with_capacity(members.len());
            for (key, member) in members {
                map.insert(key.clone(), to_cel(member)?);
            }
            CelValue::from(map)
        }
    })
}
