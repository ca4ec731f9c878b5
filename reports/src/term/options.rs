use std::{io::IsTerminal, str::FromStr};

/// How the terminal report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermOptions {
    /// Whether colours are used. Nothing is said by colour alone.
    pub color: bool,
    /// Columns that a line may take.
    pub width: usize,
    /// How much is said.
    pub volume: Volume,
    /// Whether somebody watches, so that a progress bar makes sense.
    pub is_terminal: bool,
    /// Whether file names become links (OSC 8).
    pub links: bool,
}

impl Default for TermOptions {
    /// For a file or a pipe: 100 columns, no colours, no progress bar.
    fn default() -> Self {
        Self { color: false, width: 100, volume: Volume::Normal, is_terminal: false, links: false }
    }
}

impl TermOptions {
    /// The options for a stream of this process, standard output or standard error.
    #[must_use]
    pub fn detect(choice: ColorChoice, volume: Volume, stream: &impl IsTerminal) -> Self {
        let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        Self::decide(choice, volume, stream.is_terminal(), columns, &Environment::of_process())
    }

    /// The rules of [`TermOptions::detect`], apart from where their facts come from.
    #[must_use]
    pub fn decide(
        choice: ColorChoice,
        volume: Volume,
        is_terminal: bool,
        columns: Option<usize>,
        environment: &Environment,
    ) -> Self {
        let dumb = environment.term.as_deref() == Some("dumb");
        let color = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if environment.no_color => false,
            ColorChoice::Auto if environment.force_color => true,
            ColorChoice::Auto => is_terminal && !dumb,
        };
        let width = environment.columns.or(columns.filter(|_| is_terminal)).unwrap_or(Self::default().width);
        Self {
            color,
            width: width.clamp(40, 200),
            volume,
            // A bar that moves fills a log with noise even where the log claims to be a terminal.
            is_terminal: is_terminal && !dumb && !environment.ci,
            links: is_terminal && color && environment.links,
        }
    }
}

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Volume {
    /// Only what went wrong, and the last line.
    Quiet,
    /// One line a cell, one screen a failure.
    #[default]
    Normal,
    /// Every promise, witness and timeline.
    Verbose,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A value for `--color` that isn't one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no choice of colour; use `auto`, `always` or `never`")]
pub struct UnknownColorChoice(String);

impl FromStr for ColorChoice {
    type Err = UnknownColorChoice;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "always" => Ok(Self::Always),
            "never" => Ok(Self::Never),
            other => Err(UnknownColorChoice(other.to_owned())),
        }
    }
}

/// What the environment variables say about the terminal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one variable of its own")]
pub struct Environment {
    /// `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// `CLICOLOR_FORCE` or `FORCE_COLOR` is set and neither empty nor `0`.
    pub force_color: bool,
    /// `CI` is set and not empty.
    pub ci: bool,
    /// `TERM`.
    pub term: Option<String>,
    /// `COLUMNS`, where it is a number.
    pub columns: Option<usize>,
    /// The terminal is known to understand OSC 8, or `FORCE_HYPERLINK` says so.
    pub links: bool,
}

impl Environment {
    /// Of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self::read(|name| std::env::var(name).ok())
    }

    /// From any source of variables.
    #[must_use]
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let on = |name: &str| set(name).is_some_and(|value| value != "0");
        let known = set("TERM_PROGRAM").is_some_and(|program| {
            ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio"].contains(&program.as_str())
        });
        let vte =
            set("VTE_VERSION").and_then(|version| version.parse::<u32>().ok()).is_some_and(|v| v >= 5_000);
        let kitty =
            set("TERM").is_some_and(|term| term == "xterm-kitty" || term == "alacritty" || term == "foot");
        let links = match set("FORCE_HYPERLINK") {
            Some(value) => value != "0",
            None => known || vte || kitty || set("WT_SESSION").is_some(),
        };
        Self {
            no_color: set("NO_COLOR").is_some(),
            force_color: on("CLICOLOR_FORCE") || on("FORCE_COLOR"),
            ci: set("CI").is_some(),
            term: set("TERM"),
            columns: set("COLUMNS").and_then(|columns| columns.parse().ok()),
            links,
        }
    }
}
