//! What can go wrong with the double.

use std::io;

/// The double could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum DoubleError {
    /// The listening address is none.
    #[error(
        "the provider double can't listen on `{listen}`: that is no address; write `IP:PORT`, for example `127.0.0.1:0` for any free port"
    )]
    BadAddress {
        /// What `[provider] listen` says.
        listen: String,
    },
    /// The address can't be had.
    #[error(
        "the provider double can't listen on `{listen}`: {source}; set `listen` under `[provider]` to a free port, or to port 0"
    )]
    Listen {
        /// What `[provider] listen` says.
        listen: String,
        /// What the system says.
        source: io::Error,
    },
    /// A wire format that the double doesn't speak.
    #[error("the provider double doesn't speak `{speaks}`; it speaks `plain`")]
    UnknownDialect {
        /// What `[provider] speaks` says.
        speaks: String,
    },
    /// No provider, or a name that can't be a part of a path.
    #[error(
        "`{name}` can't be the name of a provider: use letters, digits, `-`, `_` and `.`, each name once, and at least one name"
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// The place of a field in a call is neither a header nor a JSON Pointer.
    #[error("`{place}` is no place in a provider call; write `header:NAME` or a JSON Pointer like `/job/id`")]
    BadLocator {
        /// What `[provider]` says.
        place: String,
    },
    /// A rule asks for an answer that HTTP doesn't have.
    #[error("the rule `{call}` can't be carried out: {wrong}")]
    BadRule {
        /// Name of the rule.
        call: String,
        /// What is wrong, and what to write instead.
        wrong: String,
    },
    /// The call that is meant has not come.
    #[error("the provider has not seen the call `{call}` in round {round}; it has seen: {}", list(.seen))]
    NotCalled {
        /// The name.
        call: String,
        /// The round.
        round: u32,
        /// The calls that did come.
        seen: Vec<String>,
    },
    /// The call isn't held, so there is nothing to release.
    #[error("the call `{call}` of round {round} can't be released: {why}")]
    NotHeld {
        /// The name.
        call: String,
        /// The round.
        round: u32,
        /// What it is instead.
        why: &'static str,
    },
    /// The call has no outcome that a callback could tell.
    #[error("the call `{call}` of round {round} has no outcome yet, so no callback can tell of one")]
    NoOutcome {
        /// The name.
        call: String,
        /// The round.
        round: u32,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
