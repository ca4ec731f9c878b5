//! What a whole run stands on: Postgres where the target asks for a database of ours, and a migrated one to clone.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{migration::migrate, world::Grounds};
use crate::{
    fail::Fault,
    leash::Leash,
    postgres::{Databases, Server, Source, StartOptions, Template},
    target::TargetFile,
};

/// The database of a run, where the target needs one of ours.
#[derive(Debug)]
pub struct Ground {
    server: Option<Server>,
    databases: Option<Databases>,
    /// The migrated database to clone.
    template: Option<Template>,
}

impl Ground {
    /// Starts or finds Postgres and prepares a database; nothing where the target's command asks for none. `ahead` copies
    /// are kept ready, `program` is this program.
    pub async fn prepare(
        source: &Source,
        ahead: usize,
        target: &TargetFile,
        leash: &Leash,
        program: &Path,
    ) -> Result<Self, Fault> {
        let nothing = Self { server: None, databases: None, template: None };
        let Some(command) = &target.target.command else { return Ok(nothing) };
        let wants = |text: &String| text.contains("{database.url}");
        if !command.start.iter().chain(&command.migrate).chain(command.env.values()).any(wants) {
            return Ok(nothing);
        }
        let server =
            Server::start(source, &StartOptions::default(), leash, &|line: &str| talk!("{line}")).await?;
        let databases = Databases::open(&server, leash, ahead.min(8)).await?;
        let template =
            databases.template("target", async |url: String| migrate(target, program, url).await).await?;
        Ok(Self { server: Some(server), databases: Some(databases), template: Some(template) })
    }

    /// What is the same for all cells that stand on it.
    #[must_use]
    pub fn grounds(
        &self,
        target: TargetFile,
        leash: &Leash,
        defects: &[String],
        program: PathBuf,
    ) -> Grounds {
        Grounds {
            target: Arc::new(target),
            program,
            template: self.template.clone(),
            leash: leash.clone(),
            defects: defects.to_vec(),
            negation: None,
            run_id: uuid::Uuid::now_v7().to_string(),
            reach: None,
            first_break: false,
            hosted: None,
        }
    }

    /// Where it came from, in one line.
    #[must_use]
    pub fn database(&self) -> Option<String> {
        self.server.as_ref().map(Server::describe)
    }

    /// Drops what was made on a server that isn't ours.
    pub async fn end(self) -> Result<(), Fault> {
        if let Some(databases) = self.databases {
            databases.close().await?;
        }
        Ok(())
    }
}
