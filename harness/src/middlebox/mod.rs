//! Real programs that stand between the parts of a deployment: load balancers before the replicas, a pooler before the
//! database. Each is a process of its own with a folder of its own, run by any user, and gone with the run.

mod balancer;
mod daemon;
mod error;
mod haproxy;
mod nginx;
mod pooler;
mod program;

pub use balancer::{Balancer, BalancerKind};
pub use error::MiddleboxError;
pub use pooler::{Pooler, PoolerKind};
pub use program::Program;
