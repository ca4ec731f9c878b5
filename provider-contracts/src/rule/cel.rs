//! Compiled rules.

use std::fmt;
use std::sync::Arc;

use cel::{Context, Program, Value as CelValue};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::convert::to_cel;

/// What a rule may speak of.
const VARIABLES: [&str; 4] = ["input", "output", "primary", "meta"];

/// A rule of a contract: it must answer `true` for every output.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Unique within the contract.
    pub name: String,
    /// The condition.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub cel: Expression,
    /// The code a sample fails with; `rule:NAME` if none is given.
    pub code: Option<String>,
}

/// A CEL expression, compiled when its file is read.
#[derive(Clone)]
pub struct Expression {
    source: String,
    program: Arc<Program>,
}

/// What a rule says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleOutcome {
    /// It holds.
    Holds,
    /// It does not.
    Broken,
    /// It could not be decided, which fails too.
    Error(String),
}

impl Expression {
    /// Compiles `source`.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn compile(source: &str) -> Result<Self, String> {
        let program = Program::compile(source).map_err(|error| format!("not a CEL expression: {error}"))?;
        Ok(Self { source: source.to_owned(), program: Arc::new(program) })
    }

    /// As it was written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it speaks of `variable`.
    #[must_use]
    pub fn reads(&self, variable: &str) -> bool {
        self.program.references().has_variable(variable)
    }

    /// Variables that no rule has.
    #[must_use]
    pub fn unknown_variables(&self) -> Vec<String> {
        let references = self.program.references();
        let mut unknown: Vec<String> = references
            .variables()
            .iter()
            .filter(|name| !VARIABLES.contains(name))
            .map(|name| format!("`{name}`"))
            .collect();
        unknown.sort();
        unknown
    }

    /// Decides the rule. A variable that is not given is absent, so a rule that reads it errs.
    #[must_use]
    pub fn decide(&self, variables: &[(&str, &Value)]) -> RuleOutcome {
        let mut context = Context::default();
        for (name, value) in variables {
            match to_cel(value) {
                Ok(value) => context.add_variable_from_value(*name, value),
                Err(problem) => return RuleOutcome::Error(problem),
            }
        }
        match self.program.execute(&context) {
            Ok(CelValue::Bool(true)) => RuleOutcome::Holds,
            Ok(CelValue::Bool(false)) => RuleOutcome::Broken,
            Ok(other) => RuleOutcome::Error(format!("answered {other:?}, which is neither true nor false")),
            Err(error) => RuleOutcome::Error(error.to_string()),
        }
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expression({})", self.source)
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let source = String::deserialize(deserializer)?;
        Self::compile(&source).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn decide(source: &str, output: &Value) -> RuleOutcome {
        Expression::compile(source).unwrap().decide(&[("output", output), ("input", &json!({"limit": 2}))])
    }

    #[test]
    fn positive_integers_multiply_like_any_other() {
        assert_eq!(decide("output.x * 2 == 6", &json!({"x": 3})), RuleOutcome::Holds);
        assert_eq!(
            decide("output.x * 2 == 6 && output.y * -1 == 4", &json!({"x": 3, "y": -4})),
            RuleOutcome::Holds
        );
        assert_eq!(decide("output.x > input.limit", &json!({"x": 2})), RuleOutcome::Broken);
    }

    #[test]
    fn a_missing_key_is_an_error_unless_it_is_guarded() {
        assert!(matches!(decide("output.y == 1", &json!({"x": 3})), RuleOutcome::Error(_)));
        assert_eq!(decide("!has(output.y) || output.y == 1", &json!({"x": 3})), RuleOutcome::Holds);
    }

    #[test]
    fn an_answer_that_is_not_a_boolean_is_an_error() {
        assert!(matches!(decide("output.x", &json!({"x": 3})), RuleOutcome::Error(_)));
    }

    #[test]
    fn an_integer_beyond_64_signed_bits_is_an_error_and_not_a_rounding() {
        assert!(matches!(decide("output.x > 1", &json!({"x": u64::MAX})), RuleOutcome::Error(_)));
    }

    #[test]
    fn strings_and_lists_work() {
        let output = json!({"v": "ACME", "l": [{"n": 1}, {"n": 2}]});
        assert_eq!(
            decide("output.v.startsWith('AC') && output.l.all(i, i.n > 0)", &output),
            RuleOutcome::Holds
        );
        assert_eq!(decide("output.v.matches('^[A-Z]+$')", &output), RuleOutcome::Holds);
    }

    #[test]
    fn unknown_variables_are_named() {
        let expression = Expression::compile("outptu.x == 1 && output.y == 2").unwrap();
        assert_eq!(expression.unknown_variables(), ["`outptu`"]);
        assert!(expression.reads("output") && !expression.reads("primary"));
    }
}
