//! What contention costs, beside the limit of the database: the statements by which people decide a job once or claim a key
//! once, raced against each other on the Postgres at hand.
//!
//! Everything is measured in pairs that stand close together in time, because a machine's hour changes rates by more than most
//! strategies differ: a repeat plays each point, the plain form beside it and pgbench beside it, and only then begins the
//! next repeat. A block that decided a job twice or not at all, or in which the contenders never met, gives no figure.

mod arena;
mod attempt;
mod block;
mod caller;
mod campaign;
mod claim;
mod claim_judge;
mod compare;
mod contender;
mod estimate;
mod figures;
mod form;
mod histogram;
mod judge;
mod meter;
mod pgbench;
mod plan;
mod report;
mod service;
mod strategy;
mod table;

pub use arena::{Arena, Effort, Setup, Trouble};
pub use attempt::{Attempt, End};
pub use block::{Block, Load, Pace, race};
pub use campaign::{Broke, Budget, Campaign, Measured, Standing, Venue, campaign};
pub use claim::{Call, Calls, Told, call_all};
pub use claim_judge::judge_calls;
pub use compare::{ALPHA, compare, name};
pub use contender::{Contender, open};
pub use estimate::{PermutationTest, estimate, permutation};
pub use figures::{Figures, Ledger};
pub use form::{ClaimForm, ClaimShape};
pub use histogram::Latencies;
pub use judge::{Decided, Sound, Unsound, judge};
pub use meter::{Meter, Written};
pub use pgbench::{Course, Pgbench, Script};
pub use plan::{Life, Point, Work, order};
pub use report::row;
pub use service::Service;
pub use strategy::{Shape, Strategy, UnknownStrategy};
pub use table::Table;
