use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::account::Account;
use super::programs::Programs;
use super::settings::ROLE;
use super::{Environment, PostgresError};

/// A copy that nobody finished in this time never will be.
const DRAFT_IS_DEAD_AFTER: Duration = Duration::from_hours(1);

/// The same bytes for every user and machine, and letters sort by their code: runs can be compared.
const INITDB_ARGUMENTS: [&str; 5] =
    ["--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"];

/// An initialised data directory, kept from run to run: copying one is several times as fast as `initdb`.
///
/// It lies in the user's own cache folder, where nobody else can have put it.
#[derive(Debug)]
pub(super) struct Prepared {
    kept: Option<PathBuf>,
}

impl Prepared {
    pub(super) fn new(programs: &Programs, environment: &Environment) -> Self {
        let mut hash = Sha256::new();
        for part in [programs.version.as_str(), &programs.folder.to_string_lossy(), ROLE]
            .iter()
            .chain(&INITDB_ARGUMENTS)
        {
            hash.update(part);
            hash.update([0]);
        }
        let key = hash.finalize().iter().take(6).fold(0_u64, |key, byte| key << 8 | u64::from(*byte));
        let kept =
            environment.cache().map(|cache| cache.join(format!("postgres-{}-{key:012x}", programs.major)));
        Self { kept }
    }

    /// Makes `data` an initialised data directory of the given owner. Says whether it came from the kept one.
    pub(super) fn fill(
        &self,
        data: &Path,
        programs: &Programs,
        account: Option<&Account>,
    ) -> Result<bool, PostgresError> {
        if let Some(kept) = self.kept.as_deref().filter(|kept| is_whole(kept)) {
            match copy_tree(kept, data, account) {
                Ok(()) => return Ok(true),
                // A kept one that can't be copied is as good as none.
                Err(_) => drop(fs::remove_dir_all(data)),
            }
        }
        initdb(data, programs, account)?;
        self.keep(data);
        Ok(false)
    }

    /// Forgets the kept one: a server made from it did not start.
    pub(super) fn forget(&self) {
        if let Some(kept) = &self.kept {
            drop(fs::remove_dir_all(kept));
        }
    }

    /// Keeps a copy for the next run. Failing to is no error: the next run then calls `initdb` again.
    fn keep(&self, data: &Path) {
        let Some((kept, cache)) = self.kept.as_deref().and_then(|kept| Some((kept, kept.parent()?))) else {
            return;
        };
        if fs::create_dir_all(cache).is_err() {
            return;
        }
        remove_dead_drafts(cache);
        let Ok(draft) = tempfile::Builder::new().prefix("draft-").tempdir_in(cache) else { return };
        let copy = draft.path().join("data");
        if copy_tree(data, &copy, None).is_ok() {
            // Renaming makes it appear whole or not at all; when another run was first, ours is thrown away.
            drop(fs::rename(&copy, kept));
        }
    }
}

fn is_whole(data: &Path) -> bool {
    data.join("PG_VERSION").is_file() && data.join("global/pg_control").is_file()
}

fn remove_dead_drafts(cache: &Path) {
    for entry in fs::read_dir(cache).into_iter().flatten().flatten() {
        let old = || entry.metadata().and_then(|data| data.modified()).ok()?.elapsed().ok();
        let draft = entry.file_name().to_string_lossy().starts_with("draft-");
        if draft && old().is_some_and(|age| age > DRAFT_IS_DEAD_AFTER) {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

pub(super) fn copy_tree(from: &Path, to: &Path, owner: Option<&Account>) -> io::Result<()> {
    fs::create_dir(to)?;
    fs::set_permissions(to, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target, owner)?;
        } else {
            fs::copy(entry.path(), &target)?;
            give(&target, owner)?;
        }
    }
    give(to, owner)
}

/// Gives a file or folder to the server's user.
pub(crate) fn give(path: &Path, owner: Option<&Account>) -> io::Result<()> {
    owner.map_or(Ok(()), |account| chown(path, Some(account.uid), Some(account.gid)))
}

/// Lets a command run as the server's user.
pub(crate) fn run_as(command: &mut Command, account: Option<&Account>) {
    if let Some(account) = account {
        command.uid(account.uid).gid(account.gid).env("USER", &account.name).env("LOGNAME", &account.name);
    }
}

fn initdb(data: &Path, programs: &Programs, account: Option<&Account>) -> Result<(), PostgresError> {
    let program = programs.folder.join("initdb");
    let mut command = Command::new(&program);
    command
        .args(INITDB_ARGUMENTS)
        .args(["--username", ROLE, "--pgdata"])
        .arg(data)
        .env("LC_ALL", "C")
        .env_remove("PGDATA")
        .current_dir(data.parent().unwrap_or(Path::new("/")))
        .stdin(Stdio::null());
    run_as(&mut command, account);
    let failed =
        |status: String, output: String| PostgresError::Initdb { program: program.clone(), status, output };
    let done =
        command.output().map_err(|error| failed("it could not be started".into(), error.to_string()))?;
    if done.status.success() {
        return Ok(());
    }
    let output =
        format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    Err(failed(done.status.to_string(), output))
}
