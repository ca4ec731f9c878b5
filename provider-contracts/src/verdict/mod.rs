//! What a check says: verdicts, their codes, findings and notes.
mod code;
mod explain;
mod finding;
mod outcome;

pub use code::Code;
pub use explain::explain;
pub use finding::{Finding, Note, Stage};
pub use outcome::{ParseVerdictError, Verdict};
