//! Making a race certain: requests that wait on one lock in the database, or whose last bytes arrive together. Also the
//! client that sends every other request, and the measuring of all of it on the machine at hand.

mod arrival;
mod arrival_h1;
mod arrival_h2;
pub mod calibrate;
mod client;
mod exchange;
mod lock;
mod origin;
mod row;
mod streams;
mod tunnel;
mod wire;

pub use arrival::{Arrival, ArrivalError, Hold, Opening, Timing, Unwatched, Watch};
pub use arrival_h1::arrive_h1;
pub use arrival_h2::arrive_h2;
pub use client::{Client, Lane, Protocol};
pub use exchange::{Loss, Outcome, Prepared, RawAnswer};
pub use lock::{LockError, LockGate, LockKeeper, Patience, Waiting};
pub use origin::{Origin, OriginError};
pub(crate) use row::RowLock;
pub use tunnel::{TlsError, Trust};
