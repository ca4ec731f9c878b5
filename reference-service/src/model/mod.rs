//! The protocol of jobs and attempts, explored exhaustively.
//!
//! The model holds no rule of its own: every decision is asked of the same pure functions that the service asks (the
//! [`domain`](crate::domain) and the seams of [`Rules`](crate::rules::Rules)), so a defect that is planted there is
//! planted here. What the model adds is the world around them, which no unit test has: workers that die or stand still
//! at any moment, calls that arrive late or never, answers that get lost, a provider whose truth the service can't
//! see, a reconciler, somebody who cancels and somebody who gives an attempt up.
//!
//! ```text
//!   client ──submit──▶ job ◀──pick up, mark, bring home, lose── worker ⇄ worker
//!                       ▲                                          │ send   ▲ answer
//!     cancel, give up ──┤                                          ▼        │
//!     lapse ────────────┤                                        (network: late, lost)
//!     probe, callback ──┴────────────────────────────────────────▶ provider
//! ```
//!
//! Progress is checked in its strong form. Every act that is no disturbance makes a measure smaller
//! ([`World::left_to_do`]), so without disturbances nothing goes on for ever; and every world that is not settled has
//! such an act, so nothing ends before it is settled. Together: once faults stop, on every way, a job is decided or
//! waits for a person and says so. The reconciler is there and is answered, so `unknown` does not count as settled.
//!
//! Two things are taken at their word: a provider's declared latency (after it, a call that was not found never turns
//! up), and, in one of the worlds, that a provider recognises a reference it has seen.
//!
//! The tables of states, seconds, and the shortest way to break each promise:
//!
//! ```text
//! cargo test -p onejob-reference --lib model:: -- --nocapture
//! ONEJOB_MODEL_FAULTS=2 cargo test -p onejob-reference --lib the_protocol -- --nocapture
//! ```

mod act;
mod export;
mod promise;
mod provider;
mod step;
mod table;
mod world;

pub(crate) use act::Act;
pub(crate) use promise::Promise;
pub(crate) use provider::{Deed, Reply};
pub(crate) use world::{Setup, Stage, Try, Wire, World};
