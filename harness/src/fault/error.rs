use std::io;

/// Why a fault could not be set up or did not do as told.
#[derive(Debug, thiserror::Error)]
pub enum FaultError {
    /// The proxy got no port on the loopback address.
    #[error("the fault proxy can't listen on 127.0.0.1: {0}")]
    Listen(#[source] io::Error),
    /// There is no process group with this leader, or it isn't ours.
    #[error("the process group {leader} can't be signalled: {cause}")]
    Signal {
        /// The process id of the group's leader.
        leader: u32,
        /// What the operating system said.
        cause: io::Error,
    },
    /// The signal was sent, but not all of the group followed it.
    #[error("the process group {leader} did not follow {signal} within {seconds} s")]
    Unheeded {
        /// The process id of the group's leader.
        leader: u32,
        /// The signal's name.
        signal: &'static str,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The proxy is gone, so an armed fault can't hit any more.
    #[error("the fault can't hit any more: its proxy has ended or it hit as often as it should")]
    Over,
}
