//! `onejob prove`

use std::{collections::BTreeSet, io::Write as _, sync::Arc};

use onejob_reference::Defect;
use onejob_reports::exit::ExitCode;

use super::{
    args::{Global, ListFormat, ProveArgs},
    common::{self, Ground, load, load_target, stop_on_signals},
    sheets::{self, SheetOutputs},
};
use crate::{
    engine::{self, Grounds, Selection, plan},
    fail::Fault,
    prove::{Culprit, Effort, KillMatrix, Trial, prove as try_all},
};

pub(super) fn prove(global: &Global, args: &ProveArgs) -> Result<ExitCode, Fault> {
    let outputs = SheetOutputs::parse(&args.report)?;
    let target = load_target(None)?;
    let defects = culprits(&args.defect)?;
    let selection =
        Selection { filters: args.filter.clone(), tags: args.tag.clone(), ..Selection::default() };
    let cells = plan(load(&args.scenarios)?, &selection, &target.capabilities(), &target.settings);
    if cells.is_empty() {
        eprintln!("nothing is selected: `onejob list` shows the scenarios");
        return Ok(ExitCode::NothingSelected);
    }
    let whole = args.filter.is_empty() && args.tag.is_empty() && args.defect.is_empty();
    let parallel = args.jobs.map_or_else(common::processors, usize::from);
    let quiet = global.quiet;
    let runtime = common::runtime()?;
    let (matrix, stopped) = runtime.block_on(async {
        let stop = stop_on_signals();
        let leash = common::leash()?;
        let ground = Ground::prepare(&args.postgres, parallel, &target, &leash).await?;
        let grounds = Grounds {
            target: Arc::new(target),
            program: common::program()?,
            template: ground.template.clone(),
            leash: leash.clone(),
            defects: Vec::new(),
            run_id: uuid::Uuid::now_v7().to_string(),
        };
        engine::baseline(&grounds).await?;
        let mut count = 0;
        let mut tell = |defect: Option<&str>, scenario: &str, trial: &Trial| {
            count += 1;
            if !quiet {
                eprintln!(
                    "{count:>5}  {:<28} {scenario:<36} {}",
                    defect.unwrap_or("(honest)"),
                    word(defect, trial)
                );
            }
        };
        let effort = Effort { all: args.all, parallel };
        let outcome = try_all(&grounds, cells, defects, effort, &mut tell, stop).await;
        ground.end().await?;
        Ok::<_, Fault>(outcome)
    })?;
    runtime.shutdown_background();
    outputs.write(sheets::kill_matrix(&matrix))?;
    let mut out = std::io::stdout().lock();
    // A closed pipe has seen enough; the exit code is what CI reads.
    let _ = match args.format {
        ListFormat::Json => writeln!(out, "{:#}", serde_json::json!(matrix)),
        ListFormat::Text => table(&mut out, &matrix, args.all),
    };
    Ok(if stopped { ExitCode::Interrupted } else { judge(&matrix, whole) })
}

/// A survivor is a survivor. That a scenario is idle says something only where all defects were tried.
fn judge(matrix: &KillMatrix, whole: bool) -> ExitCode {
    let broken = matrix.left_out.values().any(|why| why.starts_with("fails on the honest service"));
    if broken {
        return ExitCode::BrokenPromise;
    }
    let idle = whole && !matrix.idle().is_empty();
    if !matrix.survivors().is_empty() || idle { ExitCode::Survivor } else { ExitCode::Success }
}

fn culprits(names: &[String]) -> Result<Vec<Culprit>, Fault> {
    let known: BTreeSet<&str> = Defect::ALL.iter().map(|defect| defect.name()).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(name.as_str())) {
        return Err(common::unknown_defect(name));
    }
    let wanted = |defect: &&Defect| names.is_empty() || names.iter().any(|name| name == defect.name());
    Ok(Defect::ALL
        .iter()
        .filter(wanted)
        .map(|defect| Culprit {
            name: defect.name().to_owned(),
            promise: defect.promise().to_owned(),
            story: defect.story().to_owned(),
        })
        .collect())
}

fn word(defect: Option<&str>, trial: &Trial) -> String {
    match (defect, trial) {
        (None, Trial::Survived) => "passes".to_owned(),
        (None, Trial::Killed { sentence, .. }) => format!("FAILS ON THE HONEST SERVICE: {sentence}"),
        (Some(_), Trial::Killed { promise, .. }) => format!("killed ({promise})"),
        (Some(_), Trial::Survived) => "not noticed".to_owned(),
        (_, Trial::Unclear { why }) => format!("no verdict: {why}"),
    }
}

fn table(out: &mut impl std::io::Write, matrix: &KillMatrix, all: bool) -> std::io::Result<()> {
    let longest = matrix.defects.iter().map(|defect| defect.name.len()).max().unwrap_or(0);
    for defect in &matrix.defects {
        let killers = matrix.killers(&defect.name);
        let verdict = if killers.is_empty() { "SURVIVED" } else { "killed" };
        writeln!(out, "{verdict:<9} {:longest$}  {}", defect.name, defect.promise)?;
        if killers.is_empty() {
            writeln!(out, "{:10}{:longest$}  stands for: {}", "", "", defect.story)?;
        } else {
            writeln!(out, "{:10}{:longest$}  by {}", "", "", killers.join(", "))?;
        }
    }
    for (scenario, why) in &matrix.left_out {
        writeln!(out, "left out  {scenario}: {why}")?;
    }
    for scenario in matrix.idle() {
        writeln!(out, "idle      {scenario} kills no defect: it proves nothing")?;
    }
    let dead = matrix.defects.len() - matrix.survivors().len();
    let useful = matrix.scenarios.len() - matrix.idle().len();
    writeln!(
        out,
        "{dead} of {} defects killed, {useful} of {} scenarios kill at least one, {} in {:.1} s",
        matrix.defects.len(),
        matrix.scenarios.len(),
        if all { "every pair tried" } else { "first killers only" },
        std::time::Duration::from_micros(matrix.duration_us).as_secs_f64(),
    )
}
