//! Explorations as the command would hand them over.

use onejob_reports::explore::{
    Coverage, EXPLORE_SCHEMA_VERSION, ExploreReport, Failure, Map, Pair, Unplayed,
};

/// Two failures, one plan that could not be played, and states that nothing reached.
pub(crate) fn exploration() -> ExploreReport {
    ExploreReport {
        schema_version: EXPLORE_SCHEMA_VERSION,
        tool_version: "0.1.0".into(),
        command: "onejob explore --seed 1 --defect failed-frees-key --plans 412".into(),
        started_at: "2026-12-01T08:00:00Z".into(),
        duration_us: 61_200_000,
        target: "reference".into(),
        defects: vec!["failed-frees-key".into()],
        database: Some("PostgreSQL 15.6, local programs".into()),
        seed: 1,
        digest: "9f2c41d0a7b3".into(),
        digested: 64,
        played: 411,
        unclear: 3,
        faults: vec![Unplayed {
            plan: 77,
            code: "OJ4004".into(),
            message: "the service did not start within 10 s".into(),
        }],
        interrupted: false,
        failure: Some(failure(12, 8)),
        others: vec![failure(5, 2)],
        coverage: Coverage {
            jobs: map(&["new", "accepted", "failed"], &["submit", "again", "retry", "fault"]),
            attempts: map(&["none", "running"], &["attempt-started", "result-accepted"]),
        },
    }
}

/// The same where nothing broke.
pub(crate) fn calm_exploration() -> ExploreReport {
    ExploreReport { failure: None, others: Vec::new(), faults: Vec::new(), ..exploration() }
}

fn failure(plan: u64, failed: u32) -> Failure {
    let file = format!(".onejob/explored/seed-1-plan-{plan}.toml");
    Failure {
        plan,
        promise: "one-job-per-key".into(),
        sentence: "Key K1 of alice has 2 jobs.".into(),
        steps: 3,
        steps_before: 19,
        tried: 41,
        failed,
        trials: 8,
        rounds: 40 / failed,
        replay: format!("onejob run --scenarios {file} --defect failed-frees-key"),
        file: Some(file),
        scenario: "# Found by `onejob explore --seed 1`\nid = \"explored\"\n\n[[step]]\nid = \"s1\"\ndo = \"submit\"\n".into(),
    }
}

/// The last event never comes, and nothing ever happens in the last state.
fn map(states: &[&str], events: &[&str]) -> Map {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let reached = events.split_last().map_or(&[][..], |(_, events)| events).iter().flat_map(|event| {
        let states = states.split_last().map_or(&[][..], |(_, states)| states);
        states.iter().zip(1..).map(|(state, count)| Pair {
            state: (*state).into(),
            event: (*event).into(),
            count: count * count * 7,
        })
    });
    Map { states: owned(states), events: owned(events), reached: reached.collect() }
}
