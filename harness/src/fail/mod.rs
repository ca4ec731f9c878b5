//! What can go wrong through no fault of the target's promises: each with a code, the place, and what to do.

mod catalogue;
mod fault;
mod place;
mod render;

pub use catalogue::{Code, UnknownCode};
pub use fault::Fault;
pub use place::{Place, Text};
pub use render::{Look, render};
