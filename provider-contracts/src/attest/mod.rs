//! Proof that a fallback has met the contract: an in-toto statement in a DSSE envelope, signed with Ed25519.
mod envelope;
mod key;
mod statement;

pub use envelope::{Envelope, VerifyError, sign, verify};
pub use key::{KeyError, SigningKey, TrustedKeys};
pub use statement::{Attested, Baseline, StatementError, attested, statement};
