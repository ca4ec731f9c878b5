//! Where a benchmark's report goes.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use onejob_reports::{
    bench::{self, BenchReport, Subject},
    exit::ExitCode,
    redact::Secrets,
};

use super::flags::{BenchFormat, OutputArgs};
use crate::{
    bench::compare,
    cli::{args::Global, common},
    fail::{Code, Fault},
};

/// What was asked for, checked before any work: a typing mistake must not cost it.
pub(super) struct Output {
    format: BenchFormat,
    files: Vec<(BenchFormat, PathBuf)>,
    base: Option<(String, BenchReport)>,
    fail_above: f64,
}

impl Output {
    pub(super) fn prepare(args: &OutputArgs, subject: Subject) -> Result<Self, Fault> {
        let files = args.report.iter().map(|text| file(text)).collect::<Result<_, Fault>>()?;
        let base = args.compare.as_deref().map(|path| base(path, subject)).transpose()?;
        Ok(Self { format: args.format, files, base, fail_above: args.fail_above })
    }

    pub(super) fn write(self, global: &Global, mut report: BenchReport) -> Result<ExitCode, Fault> {
        if let Some((name, base)) = &self.base {
            report.comparison = Some(compare(base, &report, name, self.fail_above));
        }
        let report = Secrets::new().bench(report);
        for (format, path) in &self.files {
            let text = render(&report, *format, common::term_options(global, &std::io::stdout()).width)?;
            std::fs::write(path, text).map_err(|error| unwritable(path, error))?;
        }
        let text = render(&report, self.format, common::term_options(global, &std::io::stdout()).width)?;
        // A closed pipe has seen enough; the exit code is what CI reads.
        drop(std::io::stdout().lock().write_all(&text));
        Ok(if report.interrupted {
            ExitCode::Interrupted
        } else if report.rows.is_empty() {
            ExitCode::NothingSelected
        } else if report.regressed() {
            ExitCode::Regression
        } else {
            ExitCode::Success
        })
    }
}

fn file(text: &str) -> Result<(BenchFormat, PathBuf), Fault> {
    let wrong = |message: String| {
        Fault::new(Code::UnknownFormat, message, "write json=PATH, csv=PATH, markdown=PATH or html=PATH")
    };
    let (name, path) = text
        .split_once('=')
        .filter(|(_, path)| !path.is_empty())
        .ok_or_else(|| wrong(format!("`--report {text}` names no file")))?;
    let format = <BenchFormat as clap::ValueEnum>::from_str(name, false)
        .map_err(|_| wrong(format!("`{name}` is no format of this report")))?;
    let path = PathBuf::from(path);
    common::writable(&path).map_err(|error| unwritable(&path, error))?;
    Ok((format, path))
}

fn base(path: &Path, subject: Subject) -> Result<(String, BenchReport), Fault> {
    let wrong = |message: String| {
        Fault::new(
            Code::BenchBase,
            message,
            "write one with `onejob bench cas --report json=base.json` (or claim, lifecycle)",
        )
    };
    let named = path.display().to_string();
    let text =
        std::fs::read_to_string(path).map_err(|error| wrong(format!("{named} can't be read: {error}")))?;
    let report =
        bench::read(&text).map_err(|error| wrong(format!("{named} is no such report")).because(error))?;
    if report.subject != subject {
        return Err(wrong(format!(
            "{named} is a report of `bench {}`, and this is `bench {}`",
            report.subject.word(),
            subject.word()
        )));
    }
    Ok((named, report))
}

fn render(report: &BenchReport, format: BenchFormat, width: usize) -> Result<Vec<u8>, Fault> {
    let format = match format {
        BenchFormat::Text => return Ok(bench::text(report, width).into_bytes()),
        BenchFormat::Json => bench::BenchFormat::Json,
        BenchFormat::Csv => bench::BenchFormat::Csv,
        BenchFormat::Markdown => bench::BenchFormat::Markdown,
        BenchFormat::Html => bench::BenchFormat::Html,
    };
    let mut page = Vec::new();
    bench::render(report, format, &mut page).map_err(|error| {
        Fault::new(Code::Bug, "the report can't be rendered", "please report this").because(error)
    })?;
    Ok(page)
}

fn unwritable(path: &Path, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Fault {
    Fault::new(
        Code::OutputUnwritable,
        format!("the report can't be written to {}", path.display()),
        "check that the folder exists and may be written to",
    )
    .because(error)
}

/// The command that measures it again, without what may hold a password.
pub(super) fn command() -> String {
    let mut words = vec!["onejob".to_owned()];
    let mut given = std::env::args().skip(1);
    while let Some(word) = given.next() {
        if word == "--database-url" {
            words.extend([word, "…".to_owned()]);
            given.next();
        } else if word.starts_with("--database-url=") {
            words.push("--database-url=…".to_owned());
        } else if word.chars().all(|c| c.is_ascii_alphanumeric() || "-_=.,/%:".contains(c)) {
            words.push(word);
        } else {
            words.push(format!("'{}'", word.replace('\'', r"'\''")));
        }
    }
    words.join(" ")
}
