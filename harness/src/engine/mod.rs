//! Carries scenarios out against a target, and says what happened in one stream of events.

mod attestation;
mod baseline;
mod cell;
mod closing;
mod delivery;
mod effects;
mod exchange;
mod fault;
mod faults;
mod fresh;
mod launch;
mod plan;
mod proof;
mod ready;
mod rejudge;
mod report;
mod request;
mod round;
mod run;
mod service;
mod stage;
mod undoubled;
mod widen;
mod wiring;
mod world;

pub use baseline::{NoBaseline, baseline, blank as baseline_cell};
pub use cell::{Played, play};
pub use launch::Placeholders;
pub use plan::{PlannedCell, Selection, name_of, plan, shuffled};
pub use rejudge::{Rejudged, Stored, rejudge};
pub use run::{Keep, Options, forgive, frame, run};
pub use service::{Launch, Replica};
pub use stage::Stage;
pub use undoubled::undoubled;
pub use widen::{as_promised, promised};
pub use world::{Grounds, World};
