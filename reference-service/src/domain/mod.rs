//! The rules of the service as pure functions over plain values: no clock, no socket, no SQL.

mod canonical;
mod classify;
mod fingerprint;
mod job;
mod json;
mod key;
mod retry;
mod scheme;
mod state;
mod transition;
mod wire_enum;

pub use canonical::canonical;
pub use classify::{Answer, Body, Unanswered, Verdict, classify};
pub use fingerprint::{FINGERPRINT_VERSION, Fingerprint, Intent, fingerprint};
pub use job::{Attempt, Job};
pub use json::{Json, JsonRefusal, parse};
pub(crate) use json::{parse_rounding, parse_with_duplicates};
pub use key::{IdempotencyKey, KeyRefusal};
pub use retry::RetryPolicy;
pub use scheme::{EntityTag, IfMatch};
pub use state::{AttemptState, Attention, Cancel, JobState, Mode};
pub use transition::{
    AttemptCancelRefusal, CancelOutcome, Discarded, Evidence, Lapse, ResolveRefusal, StartRefusal,
    cancel_attempt, cancel_job, fail, lapse, lose_track, mark_effect, pick_up, resolve, start, succeed,
};
pub(crate) use wire_enum::wire_enum;
