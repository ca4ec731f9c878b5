//! Scenario files: what they say, how they are read, and the suite that comes with the program.

mod check;
pub(crate) mod document;
mod duration;
mod expand;
mod fields;
mod kind;
mod lines;
mod load;
mod matrix;
mod model;
mod needs;
pub(crate) mod order;
pub(crate) mod placeholder;
mod schema;
mod suite;
mod value;

pub use duration::{NotADuration, Span};
pub use fields::FIELDS;
pub use lines::LineMap;
pub use load::{Loaded, ScenarioFile, load_file, load_str};
pub use model::{
    Alike, Bounds, Capability, Check, Derived, GateChoice, Invariants, KillMoment, Per, ProbeReply, Reply,
    Scenario, Script, Setup, Signature, Step, Sweep, Until, Verb, Way, With, Witnesses,
};
pub use order::{BadOrder, Groups, parse as parse_order};
pub use schema::schema;
pub use suite::{discover, embedded, unique};
pub use value::MatrixValue;
