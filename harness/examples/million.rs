//! A run of a million events by the program itself, and the most memory that it took.
//!
//!     cargo build --release -p onejob && cargo run --release -p onejob --example million
//!
//! Fails where it took more than 200 MB. `-- CELLS ROUNDS` plays another number of cells, each of that many rounds of some
//! sixty events: `-- 1 16000` puts all of them into one cell. Needs the programs of Postgres.

use std::{
    error::Error,
    fs::{self, File},
    io::{self, BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// What the program promises, in kilobytes.
const MOST_KB: u64 = 200_000;
/// Between two looks at how much memory it has; the system remembers the most itself.
const LOOK_EVERY: Duration = Duration::from_millis(50);

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<u32> =
        std::env::args().skip(1).map(|number| number.parse()).collect::<Result<_, _>>()?;
    let (cells, rounds) = match numbers[..] {
        [] => (40, 400),
        [cells, rounds] => (cells, rounds),
        _ => return Err("give the number of cells and of rounds, or neither".into()),
    };
    let program = program()?;
    let folder = tempfile::tempdir()?;
    fs::create_dir(folder.path().join("many"))?;
    for cell in 1..=cells {
        fs::write(folder.path().join(format!("many/{cell}.toml")), scenario(cell, rounds))?;
    }
    let began = Instant::now();
    let peak = run(&program, folder.path())?;
    let took = began.elapsed();
    let (files, events) = histories(&folder.path().join(".onejob/history"))?;
    let report = fs::metadata(folder.path().join(".onejob/report.json"))?.len();
    println!("{events} events in {files} histories, {:.0} a second", rate(events, took));
    println!("took {took:.1?}, report of {} kB, peak memory {} MB", report / 1_000, peak / 1_000);
    if peak > MOST_KB {
        return Err(format!("missed: {} MB of memory", MOST_KB / 1_000).into());
    }
    Ok(())
}

/// The program, which stands beside the folder of the examples.
fn program() -> Result<PathBuf, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let program = own.ancestors().nth(2).map(|folder| folder.join("onejob")).filter(|path| path.exists());
    Ok(program.ok_or("build the program first: cargo build --release -p onejob")?)
}

/// One job a round, which is read again and again.
fn scenario(cell: u32, rounds: u32) -> String {
    format!(
        "id = \"many-{cell}\"\ntitle = \"A job is told of as it is\"\nwhy = \"It has to be.\"\nrounds = {rounds}\n\
         [[step]]\nid = \"start\"\ndo = \"submit\"\nwith = {{ key = \"K\", payload = \"P\" }}\n\
         expect = {{ status = [200, 201, 202] }}\n[[step]]\nid = \"look\"\ndo = \"read\"\njob = \"start\"\ntimes = 24\n\
         expect = {{ status = [200] }}\n[witness]\nanswered = [\"look\"]\n"
    )
}

/// Plays them, and says how much memory the program had at most, in kilobytes. What it starts is not counted.
fn run(program: &Path, folder: &Path) -> Result<u64, Box<dyn Error>> {
    let mut child = Command::new(program)
        .args(["run", "--scenarios", "many", "--postgres", "local"])
        .current_dir(folder)
        .stdout(Stdio::null())
        .spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let ended = loop {
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        peak = peak.max(high_water(&status));
        std::thread::sleep(LOOK_EVERY);
    };
    if !ended.success() {
        return Err(format!("the run ended with {ended}").into());
    }
    if peak == 0 {
        return Err("this system doesn't say how much memory a process had".into());
    }
    Ok(peak)
}

fn high_water(status: &str) -> u64 {
    let text = fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// How many histories there are, and how many events they have together.
fn histories(folder: &Path) -> io::Result<(usize, usize)> {
    let (mut files, mut events) = (0, 0);
    for entry in fs::read_dir(folder)? {
        let lines = BufReader::new(File::open(entry?.path())?).split(b'\n');
        // The first line says what it is.
        events += lines.count() - 1;
        files += 1;
    }
    Ok((files, events))
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
fn rate(events: usize, took: Duration) -> f64 {
    events as f64 / took.as_secs_f64()
}
