//! `onejob prove --target`

use std::{io::Write as _, path::Path};

use onejob_reports::exit::ExitCode;
use serde_json::json;

use super::{
    args::{Global, ListFormat, ProveArgs},
    common::{self, Ground, load, load_target, stop_on_signals},
    sheets::{self, SheetOutputs},
};
use crate::{
    engine::{self, Selection, plan, promised, undoubled},
    fail::{Code, Fault},
    negate::{Cover, LAWS, Negation, UnknownNegation},
    prove::{KillMatrix, Trial, negate as try_all},
};

/// What a reader might take the score for.
const NOT_SAID: &str = "\
A lie that was noticed shows that the suite watches these answers of this target, and nothing more. It does not show that the
target keeps its promises: `onejob run --target` does. Nor that a real defect with the same look would be noticed as surely: a
lie is told every time, and a race is lost once in a thousand.";

pub(super) fn negate(global: &Global, args: &ProveArgs, file: &Path) -> Result<ExitCode, Fault> {
    let outputs = SheetOutputs::parse(&args.report)?;
    let target = load_target(Some(file))?;
    let negations = chosen(&args.negate)?;
    let selection =
        Selection { filters: args.filter.clone(), tags: args.tag.clone(), ..Selection::default() };
    let capabilities = target.capabilities();
    let cells = undoubled(load(&args.scenarios)?, &capabilities, target.counts_effects());
    let cells = promised(plan(cells, &selection, &capabilities, &target.settings), &target.promises());
    if cells.is_empty() {
        talk!("nothing is selected: `onejob list` shows the scenarios");
        return Ok(ExitCode::NothingSelected);
    }
    // One service and one double for all: a cell must not see another's calls.
    let parallel = match &target.target.command {
        None => 1,
        Some(_) => args.jobs.map_or_else(|| 2 * common::processors(), usize::from),
    };
    let hidden = target.hidden.clone();
    let quiet = global.quiet;
    let runtime = common::runtime()?;
    let carried_out = runtime.block_on(async {
        let stop = stop_on_signals();
        let leash = common::leash()?;
        let ground = Ground::prepare(&args.postgres, parallel, &target, &leash).await?;
        let grounds = ground.grounds(target, &leash, &[])?;
        engine::baseline(&grounds).await?;
        let mut count = 0;
        let mut tell = |lie: &str, scenario: &str, trial: &Trial| {
            count += 1;
            if !quiet {
                let line = format!("{count:>5}  {lie:<24} {scenario:<36} {}", word(trial));
                talk!("{}", hidden.redact(&line));
            }
        };
        let outcome = try_all(&grounds, cells, &negations, (args.all, parallel), &mut tell, stop).await;
        ground.end().await?;
        Ok::<_, Fault>(outcome)
    });
    let (matrix, stopped) = carried_out.map_err(|fault| fault.hiding(&hidden))?;
    runtime.shutdown_background();
    outputs.write(sheets::negations(&matrix, NOT_SAID), in_json(&matrix), &common::secrets(&hidden))?;
    let page = match args.format {
        ListFormat::Json => format!("{:#}\n", in_json(&matrix)),
        ListFormat::Text => in_text(&matrix, args.all),
    };
    let mut out = std::io::stdout().lock();
    // A closed pipe has seen enough; the exit code is what CI reads.
    let _ = out.write_all(hidden.redact(&page).as_bytes());
    Ok(if stopped {
        ExitCode::Interrupted
    } else if matrix.survivors().is_empty() {
        ExitCode::Success
    } else {
        ExitCode::Survivor
    })
}

fn chosen(names: &[String]) -> Result<Vec<Negation>, Fault> {
    if names.is_empty() {
        return Ok(Negation::ALL.to_vec());
    }
    let known: Vec<&str> = Negation::ALL.iter().map(|negation| negation.name()).collect();
    let parsed = names.iter().map(|name| {
        name.parse().map_err(|error: UnknownNegation| {
            Fault::new(Code::UnknownDefect, error.to_string(), format!("there are: {}", known.join(", ")))
        })
    });
    parsed.collect()
}

fn word(trial: &Trial) -> String {
    match trial {
        Trial::Killed { promise, .. } => format!("noticed ({promise})"),
        Trial::Survived | Trial::NotReached => "not noticed".to_owned(),
        Trial::Unclear { why } => format!("no verdict: {why}"),
    }
}

/// Laws that no lie is about, with the reason.
fn without_a_lie() -> impl Iterator<Item = (&'static str, &'static str)> {
    LAWS.iter().filter_map(|(law, cover)| match cover {
        Cover::Not(why) => Some((*law, *why)),
        Cover::By(_) => None,
    })
}

fn in_json(matrix: &KillMatrix) -> serde_json::Value {
    let noticed = matrix.defects.len() - matrix.survivors().len();
    json!({
        "noticed": noticed,
        "negations": matrix.defects.len(),
        "not_noticed": matrix.survivors(),
        "laws_without_a_negation": without_a_lie().collect::<std::collections::BTreeMap<_, _>>(),
        "does_not_mean": NOT_SAID.replace('\n', " "),
        "matrix": matrix,
    })
}

fn in_text(matrix: &KillMatrix, all: bool) -> String {
    let longest = matrix.defects.iter().map(|lie| lie.name.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for lie in &matrix.defects {
        let witnesses = matrix.killers(&lie.name);
        let verdict = if witnesses.is_empty() { "UNNOTICED" } else { "noticed" };
        lines.push(format!("{verdict:<10} {:longest$}  {}", lie.name, lie.story));
        let tried = matrix.trials.get(&lie.name).map_or(0, std::collections::BTreeMap::len);
        lines.push(if witnesses.is_empty() {
            format!("{:11}{:longest$}  negates \"{}\": {tried} scenarios heard it", "", "", lie.promise)
        } else {
            format!("{:11}{:longest$}  by {}", "", "", witnesses.join(", "))
        });
    }
    for (scenario, why) in &matrix.left_out {
        lines.push(format!("left out   {scenario}: {why}"));
    }
    for (law, why) in without_a_lie() {
        lines.push(format!("no lie     {law}: {why}"));
    }
    lines.push(format!(
        "{} of {} lies noticed, {} in {:.1} s",
        matrix.defects.len() - matrix.survivors().len(),
        matrix.defects.len(),
        if all { "each told to every scenario" } else { "each told until somebody noticed" },
        std::time::Duration::from_micros(matrix.duration_us).as_secs_f64(),
    ));
    lines.push(NOT_SAID.to_owned());
    lines.push(String::new());
    lines.join("\n")
}
