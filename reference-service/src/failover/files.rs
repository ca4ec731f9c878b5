use std::collections::BTreeMap;
use std::path::PathBuf;

/// What has to be there before a job may go on at another provider by itself. Without it none ever does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failover {
    /// Contract files, by the kind of job that each is about. A job of another kind stays where it is.
    pub contracts: BTreeMap<String, PathBuf>,
    /// The providers file of the contract checks: who stands behind each provider's name, model and parameters.
    pub providers: PathBuf,
    /// The folder of attestations. It is looked at before every decision, so what is put there, replaced or taken away
    /// counts at once.
    pub attestations: PathBuf,
    /// The public keys, in PEM, whose signatures count.
    pub trust: PathBuf,
}
