use std::path::Path;

use super::PostgresError;

/// The user that a server runs as when we are root: Postgres refuses to be root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub(super) name: String,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Account {
    /// None when we aren't root and the server can run as ourselves.
    pub(crate) fn for_server() -> Result<Option<Self>, PostgresError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let passwd = Path::new("/etc/passwd");
        let users = std::fs::read_to_string(passwd)
            .map_err(|cause| PostgresError::Folder { path: passwd.to_owned(), cause })?;
        // Only an id with an entry will do: initdb asks for its own user's name.
        ["postgres", "nobody"]
            .iter()
            .find_map(|name| Self::find(&users, name))
            .map(Some)
            .ok_or(PostgresError::NoAccount)
    }

    fn find(users: &str, name: &str) -> Option<Self> {
        users.lines().find_map(|line| {
            let mut fields = line.split(':');
            let found = fields.next().filter(|found| *found == name)?;
            let uid = fields.nth(1)?.parse().ok().filter(|uid| *uid != 0)?;
            let gid = fields.next()?.parse().ok()?;
            Some(Self { name: found.to_owned(), uid, gid })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_its_whole_name_and_never_as_root() {
        let users = "root:x:0:0:root:/root:/bin/bash\npostgresql:x:7:7::/:/bin/sh\ntoor:x:0:0::/:/bin/sh\n\
                     postgres:x:101:104:admin,,,:/var/lib/postgresql:/bin/bash\nbroken\n";
        let account = Account::find(users, "postgres").expect("there");
        assert_eq!((account.uid, account.gid), (101, 104));
        assert_eq!(Account::find(users, "toor"), None);
        assert_eq!(Account::find(users, "nobody"), None);
    }
}
