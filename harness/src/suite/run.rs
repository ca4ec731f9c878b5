//! Selecting scenarios and running them.

use std::path::{Path, PathBuf};

use onejob_reports::{exit::ExitCode, model::Shard, redact};
use tokio::sync::{mpsc, watch};

use super::{
    failure::{Failure, Report},
    hosted::Hosted,
};
use crate::{
    engine::{self, Ground, Grounds, Options, PlannedCell, Selection},
    fail::{Code, Fault},
    leash::Leash,
    postgres::Source,
    scenario::{Loaded, ScenarioFile, discover, embedded},
    target::{self, TargetFile},
};

/// The suite, or a part of it, against a target.
///
/// ```no_run
/// # use onejob::Suite;
/// #[tokio::test]
/// async fn one_intent_makes_one_job() -> Result<(), onejob::suite::Failure> {
///     Suite::read("onejob.toml")?.scenarios(["double-click", "key-reuse"]).run().await?;
///     Ok(())
/// }
/// ```
///
/// A test that fails prints the run as a terminal would show it: what broke, the timeline, and the command that shows it
/// again.
#[derive(Debug)]
pub struct Suite {
    target: TargetFile,
    selection: Selection,
    files: Vec<PathBuf>,
    repeat: u32,
    parallel: Option<usize>,
    postgres: Option<String>,
    program: Option<PathBuf>,
    hosted: Option<Hosted>,
}

impl Suite {
    /// All of the suite that comes with onejob, against this target.
    #[must_use]
    pub fn new(target: TargetFile) -> Self {
        Self {
            target,
            selection: Selection::default(),
            files: Vec::new(),
            repeat: 1,
            parallel: None,
            postgres: None,
            program: None,
            hosted: None,
        }
    }

    /// The same, with the target file at this path.
    ///
    /// # Errors
    /// Where the file can't be read or makes no sense.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Failure> {
        Ok(Self::new(target::load_file(path.as_ref())?))
    }

    /// The same, with a target file's text.
    ///
    /// # Errors
    /// Where it makes no sense.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        Ok(Self::new(target::load_str("the target", text)?))
    }

    /// Only scenarios that one of these filters selects: parts of names, or of `NAME dimension=value`.
    #[must_use]
    pub fn scenarios<S: Into<String>>(mut self, filters: impl IntoIterator<Item = S>) -> Self {
        self.selection.filters.extend(filters.into_iter().map(Into::into));
        self
    }

    /// Only scenarios with one of these tags.
    #[must_use]
    pub fn tags<S: Into<String>>(mut self, tags: impl IntoIterator<Item = S>) -> Self {
        self.selection.tags.extend(tags.into_iter().map(Into::into));
        self
    }

    /// No scenarios with one of these tags or names.
    #[must_use]
    pub fn exclude<S: Into<String>>(mut self, excluded: impl IntoIterator<Item = S>) -> Self {
        self.selection.excluded.extend(excluded.into_iter().map(Into::into));
        self
    }

    /// A scenario file or folder in place of the suite that comes with onejob.
    #[must_use]
    pub fn scenario_files(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(path.into());
        self
    }

    /// The `index`-th of `of` parts of the selection, from 1.
    #[must_use]
    pub fn shard(mut self, index: u32, of: u32) -> Self {
        self.selection.shard = Some((index, of));
        self
    }

    /// How often each cell is played; the worst verdict stands.
    #[must_use]
    pub fn repeat(mut self, times: u32) -> Self {
        self.repeat = times.max(1);
        self
    }

    /// Cells at a time.
    #[must_use]
    pub fn parallel(mut self, cells: usize) -> Self {
        self.parallel = Some(cells.max(1));
        self
    }

    /// Where Postgres comes from, where the target asks for a database: a URL, `docker`, `local`, or `auto`, which is what
    /// is done without.
    #[must_use]
    pub fn postgres(mut self, source: impl Into<String>) -> Self {
        self.postgres = Some(source.into());
        self
    }

    /// The `onejob` program, which cleans up after what a run starts, and is what `{onejob}` in a target file stands for.
    /// Needed where the target has a `[target.command]` or asks for a database; without this it is the one that `ONEJOB`
    /// names, or the one on the path.
    #[must_use]
    pub fn program(mut self, path: impl Into<PathBuf>) -> Self {
        self.program = Some(path.into());
        self
    }

    /// A service in this process, in place of a running one or of a command.
    #[must_use]
    pub fn hosted(mut self, service: Hosted) -> Self {
        self.hosted = Some(service);
        self
    }

    /// Runs it.
    ///
    /// # Errors
    /// [`Failure::Run`] where something that was selected did not pass, with the report; [`Failure::Fault`] where there was
    /// no run: a target that can't be reached, a file that makes no sense, nothing selected.
    pub async fn run(self) -> Result<Report, Failure> {
        // All that a run carries about would be a part of every test's own future.
        Box::pin(self.carry_out()).await
    }

    async fn carry_out(self) -> Result<Report, Failure> {
        crate::prepare();
        let planned = self.planned()?;
        let leash = self.leash()?;
        let ground =
            Ground::prepare(&self.source()?, self.ahead(), &self.target, &leash, &self.program_path())
                .await?;
        let defects = [];
        let grounds = ground.grounds(self.target.clone(), &leash, &defects, self.program_path());
        let grounds = Grounds { hosted: self.hosted.clone(), ..grounds };
        let report = self.play(&grounds, planned, ground.database()).await;
        ground.end().await?;
        let report = report?;
        match ExitCode::of_run(&report.run, false) {
            ExitCode::Success => Ok(report),
            _ => Err(Failure::Run(Box::new(report))),
        }
    }

    async fn play(
        &self,
        grounds: &Grounds,
        planned: Vec<PlannedCell>,
        database: Option<String>,
    ) -> Result<Report, Failure> {
        engine::baseline(grounds).await.map_err(Fault::from)?;
        let mut frame = engine::frame(&self.target, &[], 0);
        frame.run_id.clone_from(&grounds.run_id);
        frame.database = database;
        frame.shard = self.selection.shard.map(|(index, of)| Shard { index, of });
        let options = Options { parallel: self.ahead(), repeat: self.repeat, replay: String::new(), frame };
        // Nobody watches: the report says it all.
        let (tell, _) = mpsc::unbounded_channel();
        let (_stop, stopped) = watch::channel(false);
        let run = engine::run(grounds, planned, &options, &tell, &|_, _, _| (), stopped).await;
        let hidden = self.target.hidden.values().iter();
        let secrets = hidden.fold(redact::Secrets::new(), |all, value| all.value(value));
        Ok(Report { run: secrets.report(run) })
    }

    fn planned(&self) -> Result<Vec<PlannedCell>, Fault> {
        let mut files: Vec<ScenarioFile> = Vec::new();
        if self.files.is_empty() {
            files = embedded()?;
        }
        for path in &self.files {
            files.extend(discover(path)?);
        }
        let mut cells: Vec<Loaded> = Vec::new();
        for file in &files {
            cells.extend(file.cells()?);
        }
        let capabilities = self.target.capabilities();
        let cells = engine::undoubled(cells, &capabilities, self.target.counts_effects());
        let mut planned = engine::plan(cells, &self.selection, &capabilities, &self.target.settings);
        if self.target.target.command.is_none() && self.hosted.is_none() {
            planned = engine::as_it_runs(planned, &self.target.settings);
        }
        if planned.is_empty() {
            return Err(Fault::new(
                Code::UnknownScenario,
                "nothing is selected",
                "`onejob list` shows the scenarios",
            ));
        }
        Ok(engine::promised(planned, &self.target.promises()))
    }

    /// Cells at a time: one where all share a service that runs already.
    fn ahead(&self) -> usize {
        let own = self.target.target.command.is_some() || self.hosted.is_some();
        let usual = 2 * std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        if own { self.parallel.unwrap_or(usual) } else { 1 }
    }

    fn source(&self) -> Result<Source, Fault> {
        let named = self.postgres.as_deref().unwrap_or("auto");
        let url = std::env::var("ONEJOB_DATABASE_URL").ok();
        Ok(if named.contains("://") {
            Source::choose("url", Some(named.to_owned()))?
        } else {
            Source::choose(named, url)?
        })
    }

    fn program_path(&self) -> PathBuf {
        let named = self.program.clone().or_else(|| std::env::var_os("ONEJOB").map(PathBuf::from));
        named.unwrap_or_else(|| PathBuf::from("onejob"))
    }

    /// Nothing has to be held where nothing is started.
    fn leash(&self) -> Result<Leash, Fault> {
        if self.target.target.command.is_none() {
            return Ok(Leash::idle());
        }
        let program = self.program_path();
        Leash::start(&program).map_err(|error| {
            Fault::new(
                Code::Leash,
                format!(
                    "a run that starts processes needs the onejob program, and {} is none",
                    program.display()
                ),
                "install it, name it in ONEJOB, or give `Suite::program`",
            )
            .because(error)
        })
    }
}
