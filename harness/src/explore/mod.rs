//! Plans that nobody thought of: made by chance, judged by the same laws, shrunk to a scenario that a person can read.

mod ability;
mod attempts;
mod belief;
mod claims;
mod coverage;
mod dice;
mod draft;
mod draw;
mod hunt;
mod moves;
mod plan;
mod shrink;
mod theatre;
mod troubles;
mod write;

pub use ability::Ability;
pub use coverage::{Coverage, Pairs};
pub use hunt::{Effort, Failure, Hunt, hunt};
pub use plan::{Plan, digest};
pub use shrink::{Shrunk, shrink};
pub use theatre::{Broken, Theatre, Tried};
pub use write::{commented, plain};
