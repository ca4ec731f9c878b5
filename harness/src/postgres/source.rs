use std::fmt;

use super::PostgresError;

/// Where Postgres is to come from.
#[derive(Clone, PartialEq, Eq)]
pub enum Source {
    /// Docker, else programs on this machine: the first that works.
    Auto,
    /// A server that the user has.
    Url(String),
    /// A container, by testcontainers.
    Docker,
    /// A private server from the machine's own programs.
    Local,
}

impl Source {
    /// The source from what the command line says: the value of `--postgres` and that of `--database-url` or
    /// `ONEJOB_DATABASE_URL`. With `auto`, a URL wins: whoever gives one means it.
    pub fn choose(name: &str, database_url: Option<String>) -> Result<Self, PostgresError> {
        match (name, database_url.filter(|url| !url.trim().is_empty())) {
            ("auto" | "url", Some(url)) => Ok(Self::Url(url)),
            ("auto", None) => Ok(Self::Auto),
            ("url", None) => Err(PostgresError::NoUrl),
            ("docker", _) => Ok(Self::Docker),
            ("local", _) => Ok(Self::Local),
            (other, _) => Err(PostgresError::UnknownSource(other.to_owned())),
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Auto => "Auto",
            // It may hold a password.
            Self::Url(_) => "Url(..)",
            Self::Docker => "Docker",
            Self::Local => "Local",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_wins_over_auto_but_not_over_a_source_asked_for_by_name() {
        let url = || Some("postgres://me@there/db".to_owned());
        assert_eq!(Source::choose("auto", url()).ok(), Some(Source::Url("postgres://me@there/db".into())));
        assert_eq!(Source::choose("docker", url()).ok(), Some(Source::Docker));
        assert_eq!(Source::choose("local", url()).ok(), Some(Source::Local));
        assert_eq!(Source::choose("auto", Some("  ".into())).ok(), Some(Source::Auto));
        assert!(matches!(Source::choose("url", None), Err(PostgresError::NoUrl)));
        assert!(matches!(Source::choose("mysql", url()), Err(PostgresError::UnknownSource(_))));
    }

    #[test]
    fn a_password_is_not_in_the_debug_form() {
        let source = Source::Url("postgres://me:hunter2@there/db".into());
        assert!(!format!("{source:?}").contains("hunter2"));
    }
}
