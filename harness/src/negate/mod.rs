//! Promises negated one at a time in what a target answers: whether a suite would notice, shown on the user's own API.
//!
//! A [`Liar`] stands between the harness and a target that works, and makes one kind of answer wrong; what the scenarios
//! then say of the target shows which of them watch that promise. The negations are derived from the catalogue of laws:
//! [`LAWS`] names for each law what negates it, or why nothing does.
//!
//! A high score says that the suite would see these lies in these answers. It does not say that the target keeps its
//! promises (`onejob run` does), nor that the suite would see a real defect with the same symptom: a lie is told every
//! time, and a race is lost once in a thousand.

mod edit;
mod laws;
mod liar;
mod negation;

pub use laws::{Cover, LAWS};
pub use liar::{Asked, Liar};
pub use negation::{Negation, UnknownNegation};
