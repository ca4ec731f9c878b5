//! `onejob list`

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write as _,
};

use onejob_reports::exit::ExitCode;
use serde_json::json;

use super::{
    args::{ListArgs, ListFormat},
    common::load,
};
use crate::{
    engine::{Selection, plan},
    fail::Fault,
    scenario::Loaded,
};

pub(super) fn list(args: &ListArgs) -> Result<ExitCode, Fault> {
    let selection = Selection {
        filters: args.filter.clone(),
        tags: args.tag.clone(),
        on_request: true,
        ..Selection::default()
    };
    // A list is of no target, so nothing is left out for want of a capability.
    let cells = plan(load(&args.scenarios)?, &selection, &BTreeSet::new(), &BTreeMap::new());
    let mut scenarios: Vec<(Loaded, usize)> = Vec::new();
    for cell in cells {
        match scenarios.iter_mut().find(|(known, _)| known.scenario.id == cell.loaded.scenario.id) {
            Some((_, count)) => *count += 1,
            None => scenarios.push((cell.loaded, 1)),
        }
    }
    if scenarios.is_empty() {
        talk!("no scenario matches");
        return Ok(ExitCode::NothingSelected);
    }
    let mut out = std::io::stdout().lock();
    // A reader that has seen enough closes the pipe; that is no error of ours.
    let _ = match args.format {
        ListFormat::Json => writeln!(out, "{:#}", scenarios.iter().map(entry).collect::<serde_json::Value>()),
        ListFormat::Text => text(&mut out, &scenarios),
    };
    Ok(ExitCode::Success)
}

fn words(loaded: &Loaded) -> Vec<String> {
    loaded.needs().iter().map(|need| need.word().to_owned()).collect()
}

fn entry((loaded, cells): &(Loaded, usize)) -> serde_json::Value {
    let scenario = &loaded.scenario;
    json!({
        "id": scenario.id,
        "title": scenario.title,
        "why": scenario.why.trim(),
        "tags": scenario.tags,
        "covers": scenario.covers,
        "needs": words(loaded),
        "kills": scenario.kills,
        "on_request": scenario.on_request,
        "cells": cells,
        "rounds": scenario.rounds,
        "source": loaded.source,
    })
}

fn text(out: &mut impl std::io::Write, scenarios: &[(Loaded, usize)]) -> std::io::Result<()> {
    let longest = scenarios.iter().map(|(loaded, _)| loaded.scenario.id.len()).max().unwrap_or(0);
    for (loaded, cells) in scenarios {
        let scenario = &loaded.scenario;
        writeln!(out, "{:longest$}  {}", scenario.id, scenario.title)?;
        let covers = if scenario.covers.is_empty() { "-".to_owned() } else { scenario.covers.join(" ") };
        writeln!(
            out,
            "{:longest$}  covers {covers} · {cells} cell{} · tags {} · needs {}{}",
            "",
            if *cells == 1 { "" } else { "s" },
            scenario.tags.join(" "),
            words(loaded).join(" "),
            if scenario.on_request { " · runs only when a filter or a tag asks for it" } else { "" },
        )?;
    }
    let cells: usize = scenarios.iter().map(|(_, cells)| cells).sum();
    writeln!(out, "{} scenarios, {cells} cells", scenarios.len())
}
