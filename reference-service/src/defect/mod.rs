//! Mistakes that public services have made, each one switch. A suite that finds none of them proves nothing.

mod catalogue;
mod plant;
mod wrong;

pub use catalogue::{Defect, Family};
