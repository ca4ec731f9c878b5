use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::LeashError;

/// One thing that must be gone when the run is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Held {
    /// A process group, killed as a whole.
    Group {
        /// The group's id, which is the process id of its leader.
        leader: u32,
        /// Ask the leader with SIGQUIT before the group is killed. A Postgres server gives back its shared memory then.
        quit_first: bool,
    },
    /// A folder, removed with all that is in it.
    Dir {
        /// Absolute path, at least two levels deep.
        path: PathBuf,
    },
    /// A container, removed by force with its volumes.
    Container {
        /// The engine's address as in `DOCKER_HOST`.
        engine: String,
        /// The container's name or id.
        name: String,
    },
    /// Every database on a server whose name begins with a prefix and that belongs to the connecting role.
    Databases {
        /// Where to connect. It may hold a password: it goes through a pipe and is never printed.
        admin_url: String,
        /// What their names begin with.
        prefix: String,
    },
}

impl Held {
    /// A folder, checked: a slip must never make the watchdog delete somebody's home.
    pub(super) fn dir(path: &Path) -> Result<Self, LeashError> {
        let depth = path.components().filter(|part| matches!(part, Component::Normal(_))).count();
        let plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        if path.is_absolute() && plain && depth >= 2 && path.to_str().is_some() {
            Ok(Self::Dir { path: path.to_owned() })
        } else {
            Err(LeashError::UnfitFolder { path: path.to_owned() })
        }
    }
}

/// What the watchdog is told, one JSON object a line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Order {
    /// The value of the variable that marks every child of this run.
    Mark(String),
    /// From now on this has to be cleaned up.
    Hold(Held),
    /// It is gone already, or it may stay.
    Release(Held),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_absolute_folder_of_some_depth_can_be_held() {
        for refused in ["/", "/home", "tmp/x", "/tmp/../home", ""] {
            assert!(Held::dir(Path::new(refused)).is_err(), "{refused:?} was accepted");
        }
        assert!(Held::dir(Path::new("/tmp/onejob-x")).is_ok());
    }

    #[test]
    fn an_order_survives_the_pipe_whatever_is_in_the_path() {
        let path = PathBuf::from("/tmp/a\nb \"quoted\"");
        let line = serde_json::to_string(&Order::Hold(Held::Dir { path: path.clone() })).expect("serialises");
        assert!(!line.contains('\n'), "one order, one line");
        match serde_json::from_str(&line).expect("reads back") {
            Order::Hold(held) => assert_eq!(held, Held::Dir { path }),
            other => panic!("{other:?}"),
        }
    }
}
