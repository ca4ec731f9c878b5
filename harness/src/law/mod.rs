//! The laws: pure functions over a history, and the witnesses without which a verdict means nothing.

mod alike;
mod always;
mod attempts;
mod expect;
mod form;
mod index;
mod judgement;
mod lost;
mod named;
mod trace;
mod verdict;
mod view;
mod witness;

pub use alike::{Seen, compare as compare_alike};
pub use form::{Form, malformed};
pub use judgement::Judgement;
pub use named::decided_once;
pub use verdict::{CellJudgement, Judge, judge};
pub use view::{Call, Gate, Intent, LogEntry, Request, RequestEnd, View, step_of};
pub use witness::Sighting;
