//! The programmable provider that stands in for the real ones: it does what a script says, call by call, and tells the
//! history what really happened in the outside world, whatever the caller was told.

mod answer;
mod call;
mod callback;
mod desk;
mod error;
mod frames;
mod http1;
mod http2;
mod locator;
mod outbox;
mod plan;
mod probe;
mod route;
mod server;
mod tap;

pub use callback::Callback;
pub use error::DoubleError;
pub use server::Double;
