//! Wire formats as data: how a provider is asked, and how its answers are read.
//!
//! ```text
//! dialects/*.toml ─ parse ─▶ Dialect ─┬─ request(messages, schema, parameters) ─▶ what goes out
//!                                     └─ answer(status, headers, body) ─▶ Answer or ErrorClass
//! ```
//!
//! A gateway of your own is one more file; nothing in this crate knows a vendor by name.
mod answer_shape;
mod catalogue;
mod error_shape;
mod kind;
mod request_shape;
mod selector;
mod stream_shape;
mod subset;

pub use answer_shape::{AnswerShape, FinishClass, UsageShape};
pub use catalogue::{Catalogue, DialectError};
pub use error_shape::{ErrorClass, ErrorRule, ErrorShape, RetryShape};
pub use kind::{Dialect, ModelRule, Probe, ProbeKind};
pub use request_shape::{
    IdentityShape, MessageShape, Rejected, RequestShape, Signature, StructuredShape, SystemPlace,
};
pub use selector::Selector;
pub(crate) use selector::first_of;
pub use stream_shape::{Framing, StreamShape};
pub use subset::{AdditionalProperties, Otherwise, SchemaSubset};
