//! The target file: how to speak to the service under test.

mod capabilities;
mod check;
mod hidden;
mod kind;
mod load;
mod misfit;
mod model;
pub(crate) mod pointer;
mod profile;
mod promises;
mod read;
mod render;
mod schema;
mod values;
mod variables;

pub use hidden::Hidden;
pub use load::{REFERENCE, load_file, load_str, load_with, reference};
pub use misfit::Misfit;
pub use model::{
    Command, Database, Effects, FailoverSection, Http, ListOperation, Operation, Owner, ProviderSection,
    Ready, States, Target, TargetFile,
};
pub(crate) use pointer::Locator;
pub use profile::{profile, profile_page, profiles};
pub use promises::{
    Form, InFlight, Key, Mismatch, Missing, OnFlight, OnMismatch, OnMissing, OnReplay, Promises, Refusals,
    Replay, Retention, Scope,
};
pub use read::{known_state, read_answer, state_of, unread_answer};
pub use render::{Rendered, overlay, render};
pub use schema::schema;
pub use values::Values;
