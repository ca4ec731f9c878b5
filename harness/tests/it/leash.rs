//! What is on the leash goes when the run goes, and nothing else does.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use onejob::leash::{Held, Leash, LeashError};

const KILLED: i32 = 9;

fn leash() -> Leash {
    Leash::start(Path::new(env!("CARGO_BIN_EXE_onejob"))).expect("a watchdog")
}

fn sleeper() -> Command {
    let mut command = Command::new("sleep");
    command.arg("1000").stdin(Stdio::null());
    command
}

/// How a child ended, once it has; a child that lives on after 20 s is a failure.
fn end_of(mut child: Child) -> ExitStatus {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(status) = child.try_wait().expect("can be waited for") {
            return status;
        }
        assert!(Instant::now() < deadline, "{} still runs", child.id());
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().expect("kill(1)").success());
}

#[test]
fn a_child_and_its_own_children_end_with_the_leash() {
    let leash = leash();
    let mut shell = Command::new("sh");
    shell.args(["-c", "sleep 1000 & echo $!; wait"]).stdout(Stdio::piped());
    let mut child = leash.spawn(&mut shell).expect("starts");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("piped");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).expect("a process id");
    drop(leash);
    assert_eq!(end_of(child).signal(), Some(KILLED));
    let alive =
        Command::new("kill").args(["-0", line.trim()]).stderr(Stdio::null()).status().expect("kill(1)");
    let zombie =
        std::fs::read_to_string(format!("/proc/{}/stat", line.trim())).is_ok_and(|stat| stat.contains(") Z"));
    assert!(!alive.success() || zombie, "the grandchild {line} still runs");
}

#[test]
fn a_child_that_was_marked_but_never_held_ends_too() {
    let leash = leash();
    let mut command = sleeper();
    leash.prepare(&mut command);
    let child = command.spawn().expect("starts");
    drop(leash);
    assert_eq!(end_of(child).signal(), Some(KILLED));
}

#[test]
fn what_was_released_and_what_never_was_ours_stays() {
    let leash = leash();
    let mut released = sleeper().process_group(0).spawn().expect("starts");
    let mut stranger = sleeper().process_group(0).spawn().expect("starts");
    let folder = tempfile::tempdir().expect("a folder");
    leash.hold_group(released.id()).expect("held");
    leash.hold_dir(folder.path()).expect("held");
    leash.release_group(released.id());
    leash.release_dir(folder.path());
    drop(leash);
    assert!(folder.path().exists());
    for child in [&mut released, &mut stranger] {
        assert!(child.try_wait().expect("asks").is_none(), "it was killed");
        child.kill().expect("killed");
        child.wait().expect("waited");
    }
}

#[test]
fn a_group_is_asked_to_quit_first_where_that_was_wished() {
    let leash = leash();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap 'exit 42' QUIT; echo; while :; do sleep 0.01; done"]).stdout(Stdio::piped());
    shell.process_group(0);
    let mut child = shell.spawn().expect("starts");
    let stdout = child.stdout.take().expect("piped");
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).expect("it is set up");
    leash.hold(Held::Group { leader: child.id(), quit_first: true }).expect("held");
    drop(leash);
    assert_eq!(end_of(child).code(), Some(42));
}

#[test]
fn the_watchdog_survives_every_signal_it_can_and_folders_go_at_the_end() {
    let leash = leash();
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("held");
    std::fs::create_dir_all(folder.join("deep/down")).expect("made");
    leash.hold_dir(&folder).expect("held");
    for name in ["-INT", "-TERM", "-HUP", "-QUIT"] {
        signal(name, leash.watchdog_id().expect("a watchdog"));
    }
    leash.hold_group(u32::MAX).expect("it still takes orders, and senseless ones don't hurt");
    drop(leash);
    assert!(!folder.exists());
}

#[test]
fn a_watchdog_that_is_gone_is_an_error_and_no_silence() {
    let leash = leash();
    signal("-KILL", leash.watchdog_id().expect("a watchdog"));
    let deadline = Instant::now() + Duration::from_secs(20);
    // The pipe breaks when the kernel has got to it.
    while leash.hold_dir(Path::new("/tmp/onejob-none")).is_ok() {
        assert!(Instant::now() < deadline, "nobody noticed");
    }
    assert!(matches!(leash.spawn(&mut sleeper()), Err(LeashError::Gone { .. })));
}

#[test]
fn a_program_that_is_no_watchdog_is_refused() {
    let wrong = Leash::start(Path::new("/bin/true")).expect_err("refused");
    assert!(matches!(wrong, LeashError::NotAWatchdog { .. }), "{wrong}");
    let missing = Leash::start(Path::new("/nowhere/onejob")).expect_err("refused");
    assert!(
        matches!(missing, LeashError::Start { .. }) && missing.to_string().contains("/nowhere"),
        "{missing}"
    );
}
