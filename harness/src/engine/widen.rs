//! A scenario as a target's promises have it: what the profile declares differently is asked for differently, and what
//! it doesn't promise isn't asked for.
//!
//! Only what single answers say is touched. Counts of jobs, calls and effects stay as they are, and so do the laws that
//! always hold.

use super::plan::PlannedCell;
use crate::{
    scenario::{Check, Scenario, Step, Verb},
    target::{Form, OnMismatch, OnMissing, OnReplay, Promises, Scope},
};

/// Fields that tell how far a job is.
const STATE: [&str; 4] = ["state", "result", "version", "winner"];
/// A key of ours has so many characters.
const KEY_LENGTH: usize = 24;

/// The cells as the promises have them: widened, or with the reason why nothing is promised.
#[must_use]
pub fn promised(mut cells: Vec<PlannedCell>, promises: &Promises) -> Vec<PlannedCell> {
    for cell in &mut cells {
        let scenario = &mut cell.loaded.scenario;
        if cell.lacks.is_none() {
            cell.lacks = unpromised(scenario, promises).map(str::to_owned);
        }
        widen(scenario, promises);
    }
    cells
}

/// One scenario as the promises have it, or the reason why nothing is promised.
pub fn as_promised(mut scenario: Scenario, promises: &Promises) -> Result<Scenario, &'static str> {
    if let Some(why) = unpromised(&scenario, promises) {
        return Err(why);
    }
    widen(&mut scenario, promises);
    Ok(scenario)
}

/// Why the promises say nothing about what the scenario asks for; nothing where they do.
#[must_use]
fn unpromised(scenario: &Scenario, promises: &Promises) -> Option<&'static str> {
    let submits = || scenario.step.iter().filter(|step| step.act == Verb::Submit);
    if promises.missing.answer == OnMissing::Allowed && submits().any(is_keyless) {
        return Some("the profile lets requests go without a key");
    }
    if promises.mismatch.answer == OnMismatch::First && submits().any(|step| checks(step).any(is_mismatch)) {
        return Some("the profile does not promise that another payload is noticed");
    }
    if promises.key.scope == Scope::Service && shares_a_key(scenario) {
        return Some("the profile has one space of keys for all owners");
    }
    let formed = |step: &Step| step.with.key_raw.is_some() || !step.with.key_lines.is_empty();
    if promises.key.form == Form::Uuid && submits().any(formed) {
        return Some("the profile's keys are UUIDs");
    }
    let length = |raw: &String| raw.replace("{key}", &"x".repeat(KEY_LENGTH)).chars().count();
    // A key that is sent to be refused may be as long as it likes.
    let refused = |step: &Step| {
        let mut statuses = checks(step).flat_map(|check| &check.status).peekable();
        statuses.peek().is_some() && statuses.all(|status| *status >= 400)
    };
    let too_long = |step: &Step| step.with.key_raw.as_ref().map_or(0, length) > promises.key.longest;
    if submits().any(|step| too_long(step) && !refused(step)) {
        return Some("the profile's keys are shorter");
    }
    None
}

/// Asks of every answer what the profile promises of it.
fn widen(scenario: &mut Scenario, promises: &Promises) {
    for at in 0..scenario.step.len() {
        let (before, rest) = scenario.step.split_at_mut(at);
        let step = &mut rest[0];
        if step.act != Verb::Submit {
            continue;
        }
        let same_key = |other: &&Step| {
            other.act == Verb::Submit
                && other.with.key.is_some()
                && other.with.key == step.with.key
                && other.with.owner == step.with.owner
        };
        let several = step.times.is_some();
        let duplicate = several || before.iter().any(|other| same_key(&other));
        let keyless = is_keyless(step);
        for check in [&mut step.expect, &mut step.expect_some, &mut step.expect_one].into_iter().flatten() {
            widen_check(check, promises, duplicate, keyless);
        }
    }
}

fn widen_check(check: &mut Check, promises: &Promises, duplicate: bool, keyless: bool) {
    if keyless && check.status.iter().all(|status| *status >= 400) && !check.status.is_empty() {
        check.status.clone_from(&promises.missing.status);
    } else if is_mismatch(check) {
        check.status.retain(|status| ![409, 422].contains(status));
        add(&mut check.status, &promises.mismatch.status);
        // The first one may be in flight, which is reason enough to refuse.
        add(&mut check.status, &promises.in_flight.status);
    } else if check.status.iter().any(|status| *status < 300) {
        if check.status.contains(&409) {
            add(&mut check.status, &promises.in_flight.status);
        }
        if duplicate {
            add(&mut check.status, &promises.replay.status);
        }
    }
    if !promises.refusals.typed {
        check.has.retain(|field| field != "problem");
        check.same.retain(|field| field != "problem");
    }
    if !promises.replay.marked {
        check.replayed = None;
    }
    if duplicate && promises.replay.answer == OnReplay::Snapshot {
        check.state.clear();
        check.same.retain(|field| !STATE.contains(&field.as_str()));
        check.has.retain(|field| !STATE.contains(&field.as_str()));
    }
}

fn add(statuses: &mut Vec<u16>, more: &[u16]) {
    statuses.extend(more);
    statuses.sort_unstable();
    statuses.dedup();
}

fn checks(step: &Step) -> impl Iterator<Item = &Check> {
    [&step.expect, &step.expect_some, &step.expect_one].into_iter().flatten()
}

/// A request without any key that is to be refused for it.
fn is_keyless(step: &Step) -> bool {
    let with = &step.with;
    let none = with.key.is_none() && with.key_raw.is_none() && with.key_lines.is_empty();
    none && with.owner.as_deref() != Some("nobody")
        && checks(step).any(|check| !check.status.is_empty() && check.status.iter().all(|s| *s >= 400))
}

/// The suite's way to say "refused as another intent".
fn is_mismatch(check: &Check) -> bool {
    check.status.contains(&409) && check.status.contains(&422) && check.status.iter().all(|s| *s >= 400)
}

fn shares_a_key(scenario: &Scenario) -> bool {
    // Whoever shows no credentials is no owner.
    let is_owners = |step: &&Step| step.act == Verb::Submit && step.with.owner.as_deref() != Some("nobody");
    let submits: Vec<&Step> = scenario.step.iter().filter(is_owners).collect();
    submits.iter().any(|one| {
        one.with.key.is_some()
            && submits
                .iter()
                .any(|other| other.with.key == one.with.key && other.with.owner != one.with.owner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::profile;

    fn scenario(steps: &str) -> Scenario {
        toml::from_str(&format!("id = \"x\"\ntitle = \"t\"\nwhy = \"w\"\n{steps}")).expect("a scenario")
    }

    fn widened(steps: &str, name: &str) -> Scenario {
        let mut scenario = scenario(steps);
        widen(&mut scenario, &profile(name).expect("a profile"));
        scenario
    }

    const REUSE: &str = r#"
        [[step]]
        id = "first"
        do = "submit"
        with = { key = "K", payload = "P1" }
        expect = { status = [201], replayed = false }
        [[step]]
        id = "other"
        do = "submit"
        with = { key = "K", payload = "P2" }
        expect = { status = [409, 422], never = ["job"], has = ["problem"] }
        [[step]]
        id = "again"
        do = "submit"
        with = { key = "K", payload = "P1" }
        expect = { status = [200], replayed = true, same = ["job", "state"], as = "first" }
    "#;

    fn check(scenario: &Scenario, at: usize) -> Check {
        scenario.step[at].expect.clone().expect("an expectation")
    }

    #[test]
    fn the_profile_job_changes_nothing_but_allows_what_it_always_did() {
        let strict = widened(REUSE, "job");
        assert_eq!(check(&strict, 0).status, [201]);
        assert_eq!(check(&strict, 1).status, [409, 422]);
        assert_eq!(check(&strict, 1).has, ["problem"]);
        assert_eq!(check(&strict, 2), check(&scenario(REUSE), 2));
    }

    #[test]
    fn a_mismatch_has_the_profiles_status() {
        assert_eq!(check(&widened(REUSE, "stripe"), 1).status, [400, 409]);
        assert_eq!(check(&widened(REUSE, "ietf"), 1).status, [409, 422]);
        assert_eq!(
            check(&widened(REUSE, "stripe"), 1).never,
            ["job"],
            "whatever the status, it tells of no job"
        );
    }

    #[test]
    fn a_snapshot_needs_no_current_state_but_the_same_job() {
        let again = check(&widened(REUSE, "ietf"), 2);
        assert_eq!(again.same, ["job"]);
        assert_eq!(again.status, [200, 201, 202]);
        assert_eq!(again.replayed, None);
        assert_eq!(check(&widened(REUSE, "stripe"), 2).replayed, Some(true));
    }

    #[test]
    fn what_a_profile_does_not_promise_is_not_asked_for() {
        let unpromised_in =
            |steps: &str, name: &str| unpromised(&scenario(steps), &profile(name).expect("a profile"));
        assert_eq!(unpromised_in(REUSE, "job"), None);
        assert!(unpromised_in(REUSE, "paypal").is_some());
        let keyless = "[[step]]\ndo = \"submit\"\nwith = { payload = \"P\" }\nexpect = { status = [400] }";
        assert_eq!(unpromised_in(keyless, "ietf"), None);
        assert!(unpromised_in(keyless, "stripe").is_some());
        let formed = "[[step]]\ndo = \"submit\"\nwith = { key = \"K\", key_raw = \"{key}-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\", payload = \"P\" }";
        assert_eq!(unpromised_in(formed, "ietf"), None);
        assert!(unpromised_in(formed, "adyen").is_some(), "adyen's keys have 64 characters");
        assert!(unpromised_in(formed, "aip-155").is_some());
    }

    #[test]
    fn one_space_of_keys_is_not_asked_to_keep_owners_apart() {
        let two = "[[step]]\ndo = \"submit\"\nwith = { key = \"K\", payload = \"P\", owner = \"bob\" }\n[[step]]\ndo = \
                   \"submit\"\nwith = { key = \"K\", payload = \"P\", owner = \"alice\" }";
        let mut promises = profile("job").expect("a profile");
        assert_eq!(unpromised(&scenario(two), &promises), None);
        promises.key.scope = Scope::Service;
        assert!(unpromised(&scenario(two), &promises).is_some());
    }

    #[test]
    fn a_key_that_is_sent_to_be_refused_for_its_length_asks_for_no_long_keys() {
        let sent = |status: u16| {
            let key = "x".repeat(256);
            let with = format!("with = {{ key = \"K\", key_raw = \"{key}\", payload = \"P\" }}");
            let step = format!("[[step]]\ndo = \"submit\"\n{with}\nexpect = {{ status = [{status}] }}\n");
            unpromised(&scenario(&step), &profile("job").expect("a profile"))
        };
        assert_eq!(sent(400), None);
        assert_eq!(sent(201), Some("the profile's keys are shorter"));
    }
}
