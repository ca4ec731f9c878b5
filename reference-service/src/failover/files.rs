use std::path::PathBuf;

/// What lets a job go on at another provider by itself, beside contracts. Without it none ever does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failover {
    /// The folder of attestations. It is looked at before every decision, so what is put there, replaced or taken away
    /// counts at once.
    pub attestations: PathBuf,
    /// The public keys, in PEM, whose signatures count.
    pub trust: PathBuf,
}
