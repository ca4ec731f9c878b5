use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Environment, PostgresError};
use crate::leash::Leash;

const LOCK: &str = "owner.lock";

/// A folder without a lock is one whose maker was killed in between, or is about to lock it.
const UNLOCKED_IS_DEAD_AFTER: Duration = Duration::from_hours(1);

/// What a long run may need: a gigabyte of databases and as much again.
const ROOM: u64 = 2 << 30;

/// The longest folder whose socket still fits into the 107 bytes of a socket address on every system (103 on some).
const LONGEST_PARENT: usize = 60;

/// A temporary folder that is ours for as long as we live: held by the leash, and locked, so that a later run can
/// tell a dead one.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    leash: Leash,
    // The lock lives as long as this is open.
    _lock: File,
}

impl Scratch {
    /// In memory where `memory` is wanted and there is room, else on disk.
    pub(crate) fn new(
        environment: &Environment,
        prefix: &str,
        memory: bool,
        leash: &Leash,
    ) -> Result<Self, PostgresError> {
        let in_memory = environment.memory.as_deref().filter(|dir| memory && has_room(dir));
        let parent = in_memory.map_or_else(|| on_disk(environment), Path::to_owned);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |cause| PostgresError::Folder { path, cause }
        };
        let path =
            tempfile::Builder::new().prefix(prefix).tempdir_in(&parent).map_err(failed(&parent))?.keep();
        leash.hold_dir(&path)?;
        let lock = lock_new(&path).map_err(failed(&path))?;
        Ok(Self { path, leash: leash.clone(), _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Folders of ours whose owner has died, each locked by us now.
    pub(crate) fn dead(environment: &Environment, prefix: &str) -> Vec<Dead> {
        let parents = environment.memory.iter().cloned().chain([on_disk(environment)]);
        let entries = parents.flat_map(fs::read_dir).flatten().flatten();
        entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
            .filter_map(|entry| Dead::at(entry.path()))
            .collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if fs::remove_dir_all(&self.path).is_ok() {
            self.leash.release_dir(&self.path);
        }
    }
}

/// What a dead owner left.
#[derive(Debug)]
pub(crate) struct Dead {
    path: PathBuf,
    _lock: Option<File>,
}

impl Dead {
    fn at(path: PathBuf) -> Option<Self> {
        let me = rustix::process::geteuid().as_raw();
        match File::open(path.join(LOCK)) {
            Ok(lock) => {
                let ours = lock.metadata().is_ok_and(|data| data.uid() == me);
                (ours && lock.try_lock().is_ok()).then_some(Self { path, _lock: Some(lock) })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let data = fs::symlink_metadata(&path).ok()?;
                let age = data.modified().ok()?.elapsed().ok()?;
                (data.is_dir() && data.uid() == me && age > UNLOCKED_IS_DEAD_AFTER)
                    .then_some(Self { path, _lock: None })
            }
            Err(_) => None,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn remove(self) {
        drop(fs::remove_dir_all(&self.path));
    }
}

/// Locked under another name first: a sweep must never see our lock's file without its lock.
fn lock_new(folder: &Path) -> io::Result<File> {
    let draft = folder.join("owner.new");
    let lock = File::create_new(&draft)?;
    lock.try_lock()?;
    fs::rename(&draft, folder.join(LOCK))?;
    Ok(lock)
}

/// The system's temporary folder, or /tmp where that one is too long for a socket or closed to other users.
fn on_disk(environment: &Environment) -> PathBuf {
    let temp = &environment.temp;
    let root = rustix::process::geteuid().is_root();
    let open = !root
        || temp.ancestors().all(|dir| dir.metadata().is_ok_and(|data| data.permissions().mode() & 1 == 1));
    if temp.is_absolute() && temp.as_os_str().len() <= LONGEST_PARENT && open {
        temp.clone()
    } else {
        "/tmp".into()
    }
}

/// Whether there is more than a run needs, both in the folder and in the machine: it must not be driven to its limits.
fn has_room(dir: &Path) -> bool {
    let in_folder = rustix::fs::statvfs(dir).map_or(0, |stat| stat.f_bavail.saturating_mul(stat.f_frsize));
    let in_machine =
        fs::read_to_string("/proc/meminfo").ok().and_then(|text| available_memory(&text)).unwrap_or(0);
    in_folder >= ROOM && in_machine >= ROOM
}

fn available_memory(meminfo: &str) -> Option<u64> {
    let rest = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_that_is_free_is_read_in_bytes() {
        assert_eq!(available_memory("MemTotal: 9 kB\nMemAvailable:   2097152 kB\n"), Some(2 << 30));
        assert_eq!(available_memory("MemTotal: 9 kB\n"), None);
    }

    #[test]
    fn a_folder_whose_owner_lives_is_not_dead() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("onejob-x");
        fs::create_dir(&folder).expect("made");
        assert!(Dead::at(folder.clone()).is_none(), "one that is just being made");
        let lock = lock_new(&folder).expect("locks");
        assert!(Dead::at(folder.clone()).is_none(), "one that is in use");
        drop(lock);
        assert!(Dead::at(folder).is_some(), "one whose owner is gone");
    }
}
