//! The limit beside the figures: the same statements, by pgbench.

use std::{
    ffi::OsStr,
    path::PathBuf,
    process::{Output, Stdio},
    time::Duration,
};

use sqlx::postgres::PgConnectOptions;
use tokio::process::Command;
use url::Url;

use super::{Shape, form::ClaimShape};
use crate::postgres::program_beside_server;

/// A pgbench that can be used, and the way to the server.
#[derive(Debug, Clone)]
pub struct Pgbench {
    program: PathBuf,
    version: String,
    /// By the names of libpq's environment variables: a password must not stand in a command line.
    environment: Vec<(&'static str, String)>,
}

/// What pgbench carries out for each transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script(String);

/// How a script is run.
#[derive(Debug, Clone, Copy)]
pub struct Course {
    /// The number before the first job or call.
    pub before: i64,
    /// Transactions of each client.
    pub count: i64,
    /// Clients.
    pub clients: usize,
    /// Calls that share a key.
    pub calls_per_key: i64,
    /// When it is given up.
    pub within: Duration,
}

impl Script {
    /// Deciding one job after the other.
    #[must_use]
    pub fn deciding(shape: &Shape) -> Self {
        let mut lines = vec!["\\set job :job + 1".to_owned()];
        let bound = |sql: &str| sql.replace("$1", ":job").replace("$2", ":client_id");
        if let Some(begin) = shape.begin {
            lines.push(format!("{begin};"));
        }
        if let Some(lock) = shape.lock {
            lines.push(format!("{};", bound(lock)));
        }
        if let Some(look) = shape.look {
            lines.extend([format!("{} \\gset", bound(look)), "\\if :open".to_owned()]);
        }
        let decide = bound(shape.decide);
        lines.push(if shape.answers { format!("{decide} \\gset") } else { format!("{decide};") });
        if shape.look.is_some() {
            lines.push("\\endif".to_owned());
        }
        match shape.begin {
            Some(_) if shape.loser_rolls_back => {
                lines.extend(["\\if :won", "COMMIT;", "\\else", "ROLLBACK;", "\\endif"].map(String::from));
            }
            Some(_) => lines.push("COMMIT;".to_owned()),
            None => {}
        }
        Self(lines.join("\n") + "\n")
    }

    /// Claiming keys. The numbers of calls are dealt to clients as [`Calls`](super::Calls) deals them.
    #[must_use]
    pub fn claiming(shape: &ClaimShape) -> Self {
        let mut lines = vec![
            "\\set turn :turn + 1".to_owned(),
            "\\set call :turn * :clients + :client_id".to_owned(),
            "\\set number :before + 1 + :call".to_owned(),
            "\\set key :call / :share".to_owned(),
            "\\set id 0".to_owned(),
        ];
        let key = "(:before::text || '-' || :key::text)";
        let alone = |sql: &str| sql.replace("$1::text", key);
        let both = |sql: &str| sql.replace("$1", ":number").replace("$2::text", key);
        if let Some(begin) = shape.begin {
            lines.push(format!("{begin};"));
        }
        if let Some(lock) = shape.lock {
            lines.push(format!("{};", alone(lock)));
        }
        if let Some(first) = shape.first {
            lines.extend([format!("{} \\aset", alone(first)), "\\if :id = 0".to_owned()]);
        }
        lines.push(format!("{} \\aset", both(shape.insert)));
        if shape.first.is_some() {
            lines.push("\\endif".to_owned());
        }
        if let Some(then) = shape.then {
            lines.extend(["\\if :id = 0".to_owned(), format!("{};", alone(then)), "\\endif".to_owned()]);
        }
        if shape.begin.is_some() {
            lines.push("COMMIT;".to_owned());
        }
        Self(lines.join("\n") + "\n")
    }
}

impl Pgbench {
    /// Finds pgbench, for a server of this URL. Why there is none, in a sentence.
    pub async fn find(url: &str, options: &PgConnectOptions) -> Result<Self, String> {
        let program = tokio::task::spawn_blocking(|| program_beside_server("pgbench"))
            .await
            .ok()
            .flatten()
            .ok_or("pgbench was found neither beside the server's programs nor in PATH (on Debian it is in postgresql-contrib)")?;
        let said = Command::new(&program).arg("--version").stdin(Stdio::null()).output().await;
        let said = said.map_err(|error| format!("{} can't be run: {error}", program.display()))?;
        let version = String::from_utf8_lossy(&said.stdout).trim().to_owned();
        Ok(Self { program, version, environment: environment(url, options) })
    }

    /// As it tells it.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Runs a script. How many transactions a second, and why not, in a sentence.
    pub async fn run(&self, script: &Script, course: Course) -> Result<f64, String> {
        let file = tempfile::Builder::new().prefix("onejob-bench-").suffix(".sql").tempfile();
        let file = file.map_err(|error| format!("pgbench's script can't be written: {error}"))?;
        std::fs::write(file.path(), &script.0)
            .map_err(|error| format!("pgbench's script can't be written: {error}"))?;
        let mut command = Command::new(&self.program);
        let set = |name: &str, value: i64| format!("{name}={value}");
        command
            .args(["--no-vacuum", "--protocol=prepared", "--max-tries=10000"])
            .args(["--client", &course.clients.to_string(), "--jobs", &course.clients.min(2).to_string()])
            .args(["--transactions", &course.count.to_string()])
            .args(["-D", &set("job", course.before), "-D", &set("before", course.before), "-D", "turn=-1"])
            .args(["-D", &set("clients", i64::try_from(course.clients).unwrap_or(i64::MAX))])
            .args(["-D", &set("share", course.calls_per_key)])
            .arg("--file")
            .arg(file.path())
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("LC_ALL", "C")
            .envs(self.environment.iter().map(|(name, value)| (name, OsStr::new(value))))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        match tokio::time::timeout(course.within, command.output()).await {
            Ok(Ok(output)) => rate(&output),
            Ok(Err(error)) => Err(format!("pgbench can't be run: {error}")),
            Err(_) => Err(format!("pgbench took longer than {} s", course.within.as_secs())),
        }
    }
}

/// Transactions a second, without the time that connecting took.
fn rate(output: &Output) -> Result<f64, String> {
    let (told, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let found = told.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
    let complaint =
        errors.lines().find(|line| line.contains("error") || line.contains("fatal")).unwrap_or("nothing");
    let all = told.lines().find_map(|line| line.strip_prefix("number of transactions actually processed: "));
    // Less than what was asked for: a client gave up.
    let whole =
        all.and_then(|all| all.split_once('/')).is_some_and(|(done, asked)| done.trim() == asked.trim());
    match found {
        Some(rate) if output.status.success() && whole => Ok(rate),
        _ => Err(format!("pgbench did not finish ({}), and said {complaint:?}", output.status)),
    }
}

fn environment(url: &str, options: &PgConnectOptions) -> Vec<(&'static str, String)> {
    let host = match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => options.get_host().to_owned(),
    };
    let mut environment = vec![
        ("PGHOST", host),
        ("PGPORT", options.get_port().to_string()),
        ("PGUSER", options.get_username().to_owned()),
        ("PGSSLMODE", "disable".to_owned()),
        // What the contenders set for themselves.
        ("PGOPTIONS", r"-c default_transaction_isolation=read\ committed -c lock_timeout=20s".to_owned()),
    ];
    environment.extend(options.get_database().map(|name| ("PGDATABASE", name.to_owned())));
    let url = Url::parse(url).ok();
    let in_query = url.iter().flat_map(Url::query_pairs).find(|(name, _)| name == "password");
    let password = in_query.map(|(_, value)| value.into_owned()).or_else(|| {
        let password = url.as_ref()?.password()?;
        Some(percent_encoding::percent_decode_str(password).decode_utf8_lossy().into_owned())
    });
    environment.extend(password.map(|password| ("PGPASSWORD", password)));
    environment
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::ExitStatusExt as _, process::ExitStatus};

    use super::{
        super::{ClaimForm, Strategy},
        *,
    };

    fn output(status: i32, stdout: &str) -> Output {
        Output {
            status: ExitStatus::from_raw(status),
            stdout: stdout.as_bytes().to_vec(),
            stderr: b"pgbench: error: client 3 aborted\n".to_vec(),
        }
    }

    #[test]
    fn only_a_run_that_did_all_it_was_asked_for_has_a_rate() {
        let told = "number of transactions actually processed: 80/80\ntps = 1234.5 (without initial connection time)\n";
        assert_eq!(rate(&output(0, told)), Ok(1234.5));
        assert!(rate(&output(0, &told.replace("80/80", "79/80"))).unwrap_err().contains("client 3 aborted"));
        assert!(rate(&output(512, told)).is_err());
        assert!(rate(&output(0, "")).is_err());
    }

    #[test]
    fn a_script_has_every_statement_and_no_place_that_pgbench_would_not_fill() {
        let deciding = Strategy::SOUND.map(|strategy| (Script::deciding(&strategy.shape()), strategy.name()));
        let claiming = ClaimForm::SOUND.map(|form| (Script::claiming(&form.shape()), form.name()));
        for (Script(script), name) in deciding.into_iter().chain(claiming) {
            assert!(!script.contains('$'), "{name}:\n{script}");
            assert_eq!(
                script.matches("\\if").count(),
                script.matches("\\endif").count(),
                "{name}:\n{script}"
            );
        }
    }

    #[test]
    fn a_password_goes_by_the_environment() {
        use std::str::FromStr as _;

        let url = "postgres://me:p%40ss@127.0.0.1:5433/there";
        let set = environment(url, &PgConnectOptions::from_str(url).expect("a URL"));
        assert!(
            set.contains(&("PGPASSWORD", "p@ss".to_owned())) && set.contains(&("PGPORT", "5433".to_owned()))
        );
    }
}
