//! Sending, recording, replaying.
//!
//! ```text
//! Outgoing ─ sign ─▶ Transport ─┬─ Http      : one send, no retry of its own
//!                               ├─ Recorder  : sends and keeps, redacted
//!                               └─ Replayer  : never sends
//! ```
mod cassette;
mod classify;
mod exchange;
mod http;
mod journal;
mod record;
mod redaction;
mod retry_after;
mod run_id;
#[cfg(feature = "bedrock")]
mod sigv4;

pub use cassette::{Body, Cassette, CassetteError, Interaction};
pub use classify::{SendFault, classify};
pub use exchange::{BoxFuture, CallId, Exchange, Received, Transport};
pub use http::{Http, HttpError};
pub use record::{Recorder, Replayer};
pub use redaction::{Secrets, is_secret_header, is_secret_member};
pub use retry_after::{retry_after, should_retry};
pub use run_id::RunId;
