//! `onejob doctor`

use std::{
    cell::Cell,
    io::{self, Write as _},
    sync::Arc,
    time::{Duration, Instant},
};

use onejob_reports::{exit::ExitCode, term::TermOptions};

use super::{
    args::{DoctorArgs, Global, ListFormat},
    common::{self, Ground, load, load_target, stop_on_signals},
};
use crate::{
    doctor::{Coverage, Diagnosis, Exchange, Finding, Standing, unstarted, walk},
    fail::Fault,
};

/// A step that takes longer is said to.
const TELL_AFTER: Duration = Duration::from_secs(2);
/// Names of scenarios that are shown of each list, unless all are asked for.
const SHOWN: usize = 4;

pub(super) fn doctor(global: &Global, args: &DoctorArgs) -> Result<ExitCode, Fault> {
    let target = load_target(Some(&args.file))?;
    let coverage = Coverage::of(load(&[])?, &target);
    let runtime = common::runtime()?;
    let text = args.format == ListFormat::Text;
    let page = Page {
        options: common::term_options(global, &io::stdout()),
        all: global.verbose,
        quiet: global.quiet,
    };
    if text {
        say(&format!("{}, as {} says\n\n", target.target.name, args.file.display()));
    }
    let told = Cell::new(Instant::now());
    let mut tell = |finding: &Finding| {
        told.set(Instant::now());
        if text && !(page.quiet && finding.standing == Standing::Works) {
            say(&page.finding(finding));
        }
    };
    let walked = runtime.block_on(async {
        let mut stop = stop_on_signals();
        let leash = common::leash()?;
        let shared = Arc::new(target);
        let ground = match Ground::prepare(&args.postgres, 1, &shared, &leash).await {
            Ok(ground) => ground,
            Err(fault) => {
                let diagnosis = unstarted(&shared, &fault, coverage);
                diagnosis.findings.iter().for_each(&mut tell);
                return Ok(Some(diagnosis));
            }
        };
        let grounds = ground.grounds((*shared).clone(), &leash, &[])?;
        // What the walk has started is gone with it, before the ground is.
        let diagnosis = {
            let mut looks = tokio::time::interval(TELL_AFTER);
            let mut walked = std::pin::pin!(walk(&grounds, coverage, &mut tell));
            loop {
                tokio::select! {
                    diagnosis = &mut walked => break Some(diagnosis),
                    _ = stop.wait_for(|stop| *stop) => break None,
                    _ = looks.tick() => {
                        if !page.quiet && told.get().elapsed() >= TELL_AFTER {
                            talk!("… the service has been waited for {} s", told.get().elapsed().as_secs());
                        }
                    }
                }
            }
        };
        ground.end().await?;
        Ok::<_, Fault>(diagnosis)
    });
    runtime.shutdown_background();
    let Some(diagnosis) = walked? else { return Ok(ExitCode::Interrupted) };
    if text {
        say(&page.coverage(&diagnosis));
        say(&conclusion(&diagnosis, args));
    } else {
        let json = serde_json::to_string_pretty(&diagnosis).unwrap_or_default();
        say(&format!("{json}\n"));
    }
    Ok(exit(diagnosis.exit_code))
}

/// A closed pipe has seen enough: the exit code is what CI reads.
fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

fn exit(code: u8) -> ExitCode {
    let known =
        [ExitCode::Success, ExitCode::Usage, ExitCode::Target, ExitCode::Infrastructure, ExitCode::Baseline];
    known.into_iter().find(|known| *known as u8 == code).unwrap_or(ExitCode::Bug)
}

struct Page {
    options: TermOptions,
    all: bool,
    quiet: bool,
}

impl Page {
    fn finding(&self, finding: &Finding) -> String {
        let word = self.painted(finding.standing);
        let code = finding.code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
        let mut lines = vec![format!("  {word}  {:<14} {}{code}", finding.step, indented(&finding.said))];
        if finding.standing != Standing::Works
            && let Some(help) = &finding.help
        {
            lines.push(format!("{:27}→ {}", "", indented(help)));
        }
        if matches!(finding.standing, Standing::Broken | Standing::Differs) || self.all {
            lines.extend(finding.exchanges.iter().flat_map(exchange));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    fn painted(&self, standing: Standing) -> String {
        let word = format!("{:<8}", standing.word());
        let paint = match standing {
            Standing::Works => "32",
            Standing::Differs => "33",
            Standing::Missing | Standing::Untried => "2",
            Standing::Broken => "31",
        };
        if self.options.color { format!("\u{1b}[{paint}m{word}\u{1b}[0m") } else { word }
    }

    fn coverage(&self, diagnosis: &Diagnosis) -> String {
        let coverage = &diagnosis.coverage;
        let mut lines =
            vec![String::new(), format!("{} of {} scenarios can run.", coverage.run, coverage.of)];
        if !coverage.costs.is_empty() {
            lines.push(
                "What is missing costs, in scenarios (in brackets: those that lack nothing else):".to_owned(),
            );
        }
        for cost in &coverage.costs {
            let names = self.names(if cost.alone.is_empty() { &cost.scenarios } else { &cost.alone });
            lines.push(format!(
                "  {:<14} {:>3} ({:>2})  {names}",
                cost.capability,
                cost.scenarios.len(),
                cost.alone.len()
            ));
        }
        for (why, scenarios) in &coverage.otherwise {
            lines.push(format!("  {why}: {} ({})", scenarios.len(), self.names(scenarios)));
        }
        if !diagnosis.widened.is_empty() {
            lines.push("Compared with the profile `job`, less is asked:".to_owned());
            lines.extend(diagnosis.widened.iter().map(|sentence| format!("  {sentence}")));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    fn names(&self, names: &[String]) -> String {
        let shown = if self.all { names.len() } else { SHOWN };
        let mut text = names.iter().take(shown).map(String::as_str).collect::<Vec<_>>().join(", ");
        if names.len() > shown {
            text.push_str(", …");
        }
        text
    }
}

/// Lines after the first begin under the first one's text.
fn indented(text: &str) -> String {
    text.trim_end().replace('\n', &format!("\n{:29}", ""))
}

fn exchange(exchange: &Exchange) -> Vec<String> {
    let lines = |mark: &'static str, lines: &[String]| -> Vec<String> {
        lines.iter().map(move |line| format!("{:29}{mark} {line}", "").trim_end().to_owned()).collect()
    };
    [lines(">", &exchange.request), lines("<", &exchange.answer)].concat()
}

fn conclusion(diagnosis: &Diagnosis, args: &DoctorArgs) -> String {
    let file = args.file.display();
    match exit(diagnosis.exit_code) {
        ExitCode::Success => format!("\nWhat {file} maps works. The verdict: onejob run --target {file}\n"),
        ExitCode::Baseline => "\nOne plain submit does not work, so nothing else was tried.\n".to_owned(),
        _ => format!("\nCorrect what is broken in {file}, or start the service as it says, and ask again.\n"),
    }
}
