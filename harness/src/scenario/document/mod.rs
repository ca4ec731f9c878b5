//! TOML documents whose every value knows its place, and the reading of serde models from them with errors that people
//! can act on. Target files are read through the same.

mod de;
mod kind;
mod near;
mod tree;
mod wrong;

pub(crate) use kind::{Kind, read_text};
pub(crate) use near::nearest;
pub(crate) use tree::{Entry, Node, Step, Value};
