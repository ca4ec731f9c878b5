use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, kill_process, kill_process_group, test_kill_process, test_kill_process_group,
};

/// The variable that every child of a run carries in its environment.
pub(super) const MARK_VARIABLE: &str = "ONEJOB_LEASH";

/// No event tells one process that a stranger's child has ended, so this is polled.
const POLL: Duration = Duration::from_millis(2);

/// Asks until `done` says yes or the time is over; says whether it did.
pub(super) fn wait_until(within: Duration, mut done: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + within;
    loop {
        if done() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(POLL);
    }
}

/// A process group, and when its leader was started.
#[derive(Debug, Clone)]
pub(super) struct Group {
    leader: Pid,
    quit_first: bool,
    started: Option<u64>,
}

impl Group {
    /// None for the ids that mean something else to kill(2): 0, 1 and what is no process id at all.
    pub(super) fn new(leader: u32, quit_first: bool) -> Option<Self> {
        let raw = i32::try_from(leader).ok().filter(|raw| *raw > 1)?;
        let started = procfs::stat(leader).map(|stat| stat.started);
        Some(Self { leader: Pid::from_raw(raw)?, quit_first, started })
    }

    pub(super) fn leader(&self) -> u32 {
        self.leader.as_raw_nonzero().get().unsigned_abs()
    }

    /// The first blow: a request for the one kind, SIGKILL for the other.
    pub(super) fn end(&self) {
        if !self.quit_first {
            self.kill();
        } else if self.is_ours() {
            let _ = kill_process(self.leader, Signal::QUIT);
        }
    }

    pub(super) fn has_quit(&self) -> bool {
        !self.quit_first
            || test_kill_process(self.leader).is_err()
            || procfs::stat(self.leader()).is_some_and(|stat| stat.is_zombie())
    }

    pub(super) fn kill(&self) {
        if self.is_ours() {
            let _ = kill_process_group(self.leader, Signal::KILL);
        }
    }

    /// Whether a process of the group still runs. Zombies don't: nobody may be there to reap them.
    pub(super) fn is_alive(&self) -> bool {
        test_kill_process_group(self.leader).is_ok()
            && self.is_ours()
            && procfs::any_running_in_group(self.leader()).unwrap_or(true)
    }

    /// False when the leader's id has been given to another process since. While the group has members the kernel
    /// gives its id to nobody, so a leader that is gone leaves no doubt.
    fn is_ours(&self) -> bool {
        match (self.started, procfs::stat(self.leader())) {
            (Some(then), Some(now)) => then == now.started,
            _ => true,
        }
    }
}

/// Ends a server that nobody owns any more: SIGQUIT to its leader, then SIGKILL to the group. True when it is gone.
pub(crate) fn end_group(leader: u32, quit_within: Duration) -> bool {
    let Some(group) = Group::new(leader, true) else { return true };
    group.end();
    wait_until(quit_within, || group.has_quit());
    group.kill();
    wait_until(quit_within, || !group.is_alive())
}

/// The states of a group's processes, one letter each as in `/proc/PID/stat`. None where there is no procfs.
pub(crate) fn group_states(leader: u32) -> Option<Vec<char>> {
    procfs::states_in_group(leader)
}

/// Kills every process that carries the mark; how many there were. Always 0 where there is no procfs.
pub(super) fn kill_marked(mark: &str) -> usize {
    let wanted = format!("{MARK_VARIABLE}={mark}");
    let me = std::process::id();
    procfs::process_ids()
        .filter(|id| *id != me && procfs::has_variable(*id, wanted.as_bytes()))
        .filter_map(|id| Pid::from_raw(i32::try_from(id).ok()?))
        .filter(|pid| kill_process(*pid, Signal::KILL).is_ok())
        .count()
}

mod procfs {
    use std::fs;

    pub(super) struct Stat {
        state: char,
        group: u32,
        /// Clock ticks since boot: with the process id it names a process for good.
        pub(super) started: u64,
    }

    impl Stat {
        pub(super) fn is_zombie(&self) -> bool {
            matches!(self.state, 'Z' | 'X')
        }

        pub(super) fn parse(line: &str) -> Option<Self> {
            // The second field is the program's name in brackets, and it may hold spaces and brackets itself.
            let mut fields = line.rsplit_once(')')?.1.split_ascii_whitespace();
            let state = fields.next()?.chars().next()?;
            let group = fields.nth(1)?.parse().ok()?;
            let started = fields.nth(16)?.parse().ok()?;
            Some(Self { state, group, started })
        }
    }

    pub(super) fn stat(id: u32) -> Option<Stat> {
        Stat::parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
    }

    pub(super) fn process_ids() -> impl Iterator<Item = u32> {
        fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
    }

    /// None where there is no procfs.
    pub(super) fn any_running_in_group(group: u32) -> Option<bool> {
        Some(states_in_group(group)?.iter().any(|state| !matches!(state, 'Z' | 'X')))
    }

    /// None where there is no procfs.
    pub(super) fn states_in_group(group: u32) -> Option<Vec<char>> {
        stat(std::process::id())?;
        Some(
            process_ids()
                .filter_map(stat)
                .filter(|stat| stat.group == group)
                .map(|stat| stat.state)
                .collect(),
        )
    }

    pub(super) fn has_variable(id: u32, wanted: &[u8]) -> bool {
        fs::read(format!("/proc/{id}/environ"))
            .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|entry| entry == wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::procfs::Stat;
    use super::*;

    #[test]
    fn a_program_name_full_of_brackets_and_spaces_does_not_shift_the_fields() {
        let line = "42 (a) b) (c) S 1 40 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 2 3";
        let stat = Stat::parse(line).expect("parses");
        assert_eq!(stat.started, 98765);
        assert!(!stat.is_zombie());
    }

    #[test]
    fn the_ids_that_mean_everybody_are_never_a_group() {
        for id in [0, 1, u32::MAX] {
            assert!(Group::new(id, false).is_none(), "{id} was accepted");
        }
    }
}
