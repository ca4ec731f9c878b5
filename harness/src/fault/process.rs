use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::FaultError;
use crate::leash::group_states;

const HEEDED_WITHIN: Duration = Duration::from_secs(10);
/// The kernel tells nobody but a parent, and that only for its own children.
const LOOK: Duration = Duration::from_millis(1);

/// What is done to a whole process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupSignal {
    /// SIGKILL: all of it is gone, without a word.
    Kill,
    /// SIGSTOP: nothing of it runs, and everybody else thinks that it is only slow.
    Stop,
    /// SIGCONT: it runs again and does not know that time has passed.
    Continue,
    /// SIGTERM: it is asked to end.
    Terminate,
}

impl GroupSignal {
    fn name(self) -> &'static str {
        match self {
            Self::Kill => "SIGKILL",
            Self::Stop => "SIGSTOP",
            Self::Continue => "SIGCONT",
            Self::Terminate => "SIGTERM",
        }
    }

    fn signal(self) -> Signal {
        match self {
            Self::Kill => Signal::KILL,
            Self::Stop => Signal::STOP,
            Self::Continue => Signal::CONT,
            Self::Terminate => Signal::TERM,
        }
    }

    /// Whether a group in these states has followed. SIGTERM may be answered in any way, or not at all.
    fn is_heeded(self, states: &[char]) -> bool {
        let gone = |state: &char| matches!(state, 'Z' | 'X');
        match self {
            Self::Kill => states.iter().all(gone),
            // One in an uninterruptible call (D) stops before its next instruction; a parent in vfork(2) even stays
            // there until its child, which has stopped, goes on.
            Self::Stop => states.iter().all(|state| gone(state) || matches!(state, 'T' | 't' | 'D')),
            Self::Continue => !states.contains(&'T'),
            Self::Terminate => true,
        }
    }
}

/// Sends a signal to a process group and returns when all of it has followed: killed ones are gone, stopped ones
/// stand still. SIGTERM is not waited for. `leader` is the process id of the group's leader.
///
/// Where there is no procfs, it returns when the signal is sent.
pub async fn signal_group(leader: u32, signal: GroupSignal) -> Result<(), FaultError> {
    let refused = |cause: std::io::Error| FaultError::Signal { leader, cause };
    let group = i32::try_from(leader)
        .ok()
        .filter(|id| *id > 1)
        .and_then(Pid::from_raw)
        .ok_or_else(|| refused(std::io::ErrorKind::InvalidInput.into()))?;
    kill_process_group(group, signal.signal()).map_err(|errno| refused(errno.into()))?;
    let heeded = async {
        while group_states(leader).is_some_and(|states| !signal.is_heeded(&states)) {
            tokio::time::sleep(LOOK).await;
        }
    };
    let seconds = HEEDED_WITHIN.as_secs();
    tokio::time::timeout(HEEDED_WITHIN, heeded).await.map_err(|_| FaultError::Unheeded {
        leader,
        signal: signal.name(),
        seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_stands_still_only_when_all_of_it_does() {
        assert!(GroupSignal::Stop.is_heeded(&['T', 't', 'Z']));
        assert!(GroupSignal::Stop.is_heeded(&['T', 'D']));
        assert!(!GroupSignal::Stop.is_heeded(&['T', 'S']));
        assert!(GroupSignal::Continue.is_heeded(&['S', 'R']));
        assert!(!GroupSignal::Continue.is_heeded(&['S', 'T']));
        assert!(GroupSignal::Kill.is_heeded(&[]) && !GroupSignal::Kill.is_heeded(&['D']));
    }
}
