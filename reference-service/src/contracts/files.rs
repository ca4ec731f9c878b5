use std::collections::BTreeMap;
use std::path::PathBuf;

/// The files that say what jobs need from a model, and how each provider is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contracts {
    /// Contract files, by the kind of job that each is about.
    pub by_kind: BTreeMap<String, PathBuf>,
    /// The providers file of the contract checks: dialect, model and parameters behind each provider's name. Where it
    /// says anything but `plain`, calls are made in that dialect, under the contract of the job's kind.
    pub providers: PathBuf,
    /// A folder with dialects of one's own.
    pub dialects: Option<PathBuf>,
}
