//! The order in which held calls are let go: `A B` one after the other, `A+B` together.

/// Calls to be let go, group after group; the calls of a group go together.
pub type Groups = Vec<Vec<String>>;

/// The order makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadOrder {
    /// A name that isn't among the calls.
    #[error("`order` speaks of `{0}`, which is not among `calls`")]
    Stranger(String),
    /// A name more than once.
    #[error("`order` lets `{0}` go twice")]
    Twice(String),
    /// A call that is never let go.
    #[error("`order` never lets `{0}` go")]
    Forgotten(String),
}

/// Reads an order of these calls.
pub fn parse(text: &str, calls: &[String]) -> Result<Groups, BadOrder> {
    let mut seen: Vec<&str> = Vec::new();
    let mut groups = Groups::new();
    for group in text.split_whitespace() {
        let names: Vec<_> = group.split('+').collect();
        for name in &names {
            if !calls.iter().any(|call| call == name) {
                return Err(BadOrder::Stranger((*name).to_owned()));
            }
            if seen.contains(name) {
                return Err(BadOrder::Twice((*name).to_owned()));
            }
            seen.push(name);
        }
        groups.push(names.into_iter().map(str::to_owned).collect());
    }
    match calls.iter().find(|call| !seen.contains(&call.as_str())) {
        Some(call) => Err(BadOrder::Forgotten(call.clone())),
        None => Ok(groups),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls() -> Vec<String> {
        vec!["A".to_owned(), "B".to_owned(), "C".to_owned()]
    }

    #[test]
    fn spaces_are_one_after_the_other_and_plus_is_together() {
        assert_eq!(parse("B A+C", &calls()), Ok(vec![vec!["B".into()], vec!["A".into(), "C".into()]]));
    }

    #[test]
    fn every_call_goes_exactly_once() {
        assert_eq!(parse("A B", &calls()), Err(BadOrder::Forgotten("C".into())));
        assert_eq!(parse("A B+A C", &calls()), Err(BadOrder::Twice("A".into())));
        assert_eq!(parse("A B C D", &calls()), Err(BadOrder::Stranger("D".into())));
        assert_eq!(parse("A++B C", &calls()), Err(BadOrder::Stranger(String::new())));
    }
}
