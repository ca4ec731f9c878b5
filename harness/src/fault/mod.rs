//! Faults between the parts of a real deployment: a proxy that cuts, delays, swallows and duplicates, and signals to
//! processes. Every fault says when it hit: a scenario whose fault missed proves nothing.

mod armed;
mod book;
mod converse;
mod error;
mod framing;
mod kinds;
mod process;
mod proxy;
mod request;
mod shaper;
mod side;
mod upstream;
mod wire;

pub use armed::{Armed, Hit};
pub use error::FaultError;
pub use kinds::{
    Direction, Ending, HttpFault, Matching, NetFault, ProxyFault, RequestHead, Swallowed, Times, When,
};
pub use process::{GroupSignal, signal_group};
pub use proxy::Proxy;
pub use upstream::Upstream;
pub use wire::{Moment, Point, Tap};
