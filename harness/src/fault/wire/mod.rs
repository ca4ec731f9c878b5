//! The conversation between a service and its Postgres, message by message: what is said, what of it changes the
//! database, and a halt at any one point of it.
//!
//! Plain connections only: a request for TLS is answered with a no, so the service's URL must not insist on it.

mod ledger;
mod message;
mod session;
mod tap;

pub use ledger::{Moment, Point};
pub use tap::Tap;
