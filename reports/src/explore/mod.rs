//! What an exploration found: which plans were played, what they reached, what broke and how to see it again.
//!
//! [`ExploreReport`] is the JSON form, with a schema and a version; [`sheet()`] is the page of it, [`text()`]
//! what a terminal shows.

mod model;
mod sheet;
mod text;

pub use model::{
    Coverage, EXPLORE_SCHEMA_VERSION, ExploreReport, Failure, Map, Pair, Unplayed, explore_schema,
};
pub use sheet::sheet;
pub use text::text;
