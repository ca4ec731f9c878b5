//! The history of a cell: what happened, in order.

mod event;
mod log;
mod recorder;

pub use event::{Answer, CallEnd, CallId, Event, HISTORY_VERSION, Kind, LEAKED, Lost, RequestId};
pub use log::History;
pub use recorder::{DidNotHappen, Recorder};
