use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::{Environment, PostgresError};

/// The oldest server that has all that is relied upon (`DROP DATABASE ... WITH (FORCE)`).
pub(super) const OLDEST: u32 = 13;

/// A folder with Postgres' server programs in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Programs {
    pub(super) folder: PathBuf,
    /// As `postgres --version` tells it, such as `15.18 (Debian 15.18-0+deb12u1)`.
    pub(super) version: String,
    pub(super) major: u32,
}

impl Programs {
    /// The first usable ones: PATH, then `pg_config`, then where packages put them, newest first.
    pub(super) fn find(environment: &Environment) -> Result<Self, PostgresError> {
        let mut refused = Vec::new();
        for folder in candidates(environment) {
            match Self::at(&folder) {
                Ok(programs) => return Ok(programs),
                Err(why) => refused.push(format!("{}: {why}", folder.display())),
            }
        }
        let cause = if refused.is_empty() {
            format!("neither in PATH nor by pg_config nor in {}", environment.program_folders.join(", "))
        } else {
            refused.join("; ")
        };
        Err(PostgresError::NoPrograms { cause })
    }

    fn at(folder: &Path) -> Result<Self, String> {
        for needed in ["postgres", "initdb"] {
            if !folder.join(needed).is_file() {
                return Err(format!("no {needed}"));
            }
        }
        let answer = Command::new(folder.join("postgres"))
            .arg("--version")
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&answer.stdout);
        let version = text.trim().strip_prefix("postgres (PostgreSQL) ").unwrap_or_default().to_owned();
        let major = major_of(&version).ok_or_else(|| format!("postgres --version said {:?}", text.trim()))?;
        if major < OLDEST {
            return Err(format!("PostgreSQL {version} is too old, {OLDEST} is needed"));
        }
        Ok(Self { folder: folder.to_owned(), version, major })
    }
}

/// Whether this machine has the programs for a private server.
#[must_use]
pub fn local_programs() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| Programs::find(&Environment::of_this_process()).is_ok())
}

/// A client program of Postgres: beside the server's programs, where its version fits, else anywhere in PATH.
pub(crate) fn program_beside_server(name: &str) -> Option<PathBuf> {
    let environment = Environment::of_this_process();
    let beside = candidates(&environment).into_iter().map(|folder| folder.join(name));
    let in_path = std::env::var_os("PATH");
    let in_path = in_path.iter().flat_map(std::env::split_paths).map(|folder| folder.join(name));
    beside.chain(in_path).find(|program| program.is_file())
}

fn major_of(version: &str) -> Option<u32> {
    let digits = version.len() - version.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    version[..digits].parse().ok()
}

fn candidates(environment: &Environment) -> Vec<PathBuf> {
    let in_path: Vec<PathBuf> =
        environment.path.iter().flat_map(std::env::split_paths).filter(|dir| dir.is_absolute()).collect();
    let mut found: Vec<PathBuf> =
        in_path.iter().filter_map(|dir| real_folder(&dir.join("postgres"))).collect();
    found.extend(in_path.iter().find_map(|dir| by_pg_config(&dir.join("pg_config"))));
    found.extend(environment.program_folders.iter().flat_map(|pattern| expand(pattern)));
    let mut seen = Vec::new();
    found.retain(|folder| {
        let new = folder.is_dir() && !seen.contains(folder);
        seen.push(folder.clone());
        new
    });
    found
}

/// Where a program on the PATH really lives. A link is followed, so that its neighbours are found; a script is not
/// taken: wrappers change users and folders.
fn real_folder(program: &Path) -> Option<PathBuf> {
    let real = program.canonicalize().ok()?;
    let mut start = [0; 2];
    std::fs::File::open(&real).ok()?.read_exact(&mut start).ok()?;
    if &start == b"#!" {
        return None;
    }
    real.parent().map(Path::to_owned)
}

fn by_pg_config(program: &Path) -> Option<PathBuf> {
    let answer = Command::new(program).arg("--bindir").stdin(Stdio::null()).output().ok()?;
    let folder = PathBuf::from(String::from_utf8(answer.stdout).ok()?.trim());
    (answer.status.success() && folder.is_absolute()).then_some(folder)
}

/// The folders that a pattern with one `*` stands for, the highest version first.
fn expand(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else { return vec![pattern.into()] };
    let (parent, prefix) = before.rsplit_once('/').unwrap_or((".", before));
    let (suffix, rest) = after.split_once('/').unwrap_or((after, ""));
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    let mut found: Vec<(Vec<u32>, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
            let numbers = version.split('.').filter_map(|part| part.parse().ok()).collect();
            Some((numbers, entry.path().join(rest)))
        })
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0));
    found.into_iter().map(|(_, folder)| folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_comes_first_by_number_and_not_by_letter() {
        let place = tempfile::tempdir().expect("a folder");
        for version in ["9.6", "10", "15", "17", "junk"] {
            std::fs::create_dir_all(place.path().join(version).join("bin")).expect("made");
        }
        let pattern = format!("{}/*/bin", place.path().display());
        let names: Vec<String> = expand(&pattern)
            .iter()
            .map(|folder| folder.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, ["17", "15", "10", "9.6", "junk"]);
    }

    #[test]
    fn a_version_is_read_from_releases_and_from_previews() {
        assert_eq!(major_of("15.18 (Debian 15.18-0+deb12u1)"), Some(15));
        assert_eq!(major_of("19devel"), Some(19));
        assert_eq!(major_of(""), None);
    }

    #[test]
    fn a_wrapper_script_on_the_path_is_not_taken_for_the_server() {
        let place = tempfile::tempdir().expect("a folder");
        let script = place.path().join("postgres");
        std::fs::write(&script, "#!/bin/sh\nexec sudo -u postgres postgres\n").expect("written");
        assert_eq!(real_folder(&script), None);
    }
}
