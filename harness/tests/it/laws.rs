//! Every law with a history that satisfies it and one that breaks it; every witness seen and missed.

use onejob::{
    history::LEAKED,
    law::{View, judge},
    scenario::Scenario,
};
use onejob_reports::model::{Outcome, Verdict};

use crate::story::{Story, answer, decided, job};

/// A scenario that asks for one thing only.
fn scenario(asks: &str) -> Scenario {
    let head = "id = \"s\"\ntitle = \"t\"\nwhy = \"w\"\n";
    let text = format!(
        "{head}\n[[step]]\nid = \"click\"\ndo = \"submit\"\nwith = {{ key = \"K\", payload = \"P\" }}\n{asks}"
    );
    toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn outcome(asks: &str, law: &str, view: View) -> (Outcome, String) {
    let judgement = judge(&scenario(asks), &[view]);
    let found = judgement.promises.iter().find(|(promise, _)| promise.name == law);
    let (promise, _) = found.unwrap_or_else(|| panic!("{law} was not judged"));
    (promise.outcome, promise.sentence.clone())
}

#[track_caller]
fn holds(asks: &str, law: &str, story: Story) {
    let (outcome, sentence) = outcome(asks, law, story.view());
    assert_eq!(outcome, Outcome::Held, "{law}: {sentence}");
}

#[track_caller]
fn breaks(asks: &str, law: &str, story: Story, because: &str) {
    let (outcome, sentence) = outcome(asks, law, story.view());
    assert_eq!(outcome, Outcome::Broke, "{law}: {sentence}");
    assert!(sentence.contains(because), "{law} broke because: {sentence}");
}

/// Breaks, and points at these moments: what was fine in itself, and what broke.
#[track_caller]
fn points_at(asks: &str, law: &str, story: Story, against: &[u64], broke: &[u64]) {
    let judged = judge(&scenario(asks), &[story.view()]);
    let (found, _) = judged.promises.iter().find(|(promise, _)| promise.name == law).unwrap();
    assert_eq!(found.outcome, Outcome::Broke, "{law}: {}", found.sentence);
    assert_eq!((found.against.as_slice(), found.evidence.as_slice()), (against, broke), "{}", found.sentence);
}

#[track_caller]
fn undecided(asks: &str, law: &str, story: Story) {
    let (outcome, sentence) = outcome(asks, law, story.view());
    assert_eq!(outcome, Outcome::Undecided, "{law}: {sentence}");
}

fn one_job() -> Story {
    Story::new()
        .created("click", job(201, "a", "queued"))
        .called("first", "a", "1")
        .effect("first")
        .replied("first", "answer-first")
}

#[test]
fn one_intent_has_one_effect() {
    holds("", "one-effect", one_job());
    breaks("", "one-effect", one_job().called("rest", "a", "2").effect("rest"), "2 effects");
}

#[test]
fn two_jobs_of_one_key_have_their_effects_added_up() {
    let story =
        Story::new().created("click.1", job(201, "a", "queued")).created("click.2", job(201, "b", "queued"));
    let story = story.called("first", "a", "1").effect("first").called("rest", "b", "1").effect("rest");
    breaks("", "one-effect", story, "calls first and rest");
}

#[test]
fn effects_of_different_keys_are_not_added_up() {
    let story = one_job().submits_with("other", "L", "P").answered("other", job(201, "b", "queued"));
    holds("", "one-effect", story.called("rest", "b", "1").effect("rest"));
}

#[test]
fn an_effect_that_fits_no_intent_leaves_the_question_open() {
    let story = one_job().submits_with("other", "L", "P").answered("other", job(201, "b", "queued"));
    undecided("", "one-effect", story.called("rest", "stranger", "1").effect("rest"));
}

#[test]
fn effects_that_only_the_target_counts_are_judged_too() {
    holds("", "one-effect", one_job().effects_counted(1));
    breaks("", "one-effect", one_job().effects_counted(2), "had 2 effects, as the target counts");
    let once = "[invariants]\neffects = { max = 1, per = \"key\" }";
    holds(once, "effects", one_job().effects_counted(1));
    breaks(once, "effects", one_job().effects_counted(2), "as the target counts: 2, not at most one");
}

#[test]
fn one_intent_is_one_job() {
    holds("", "one-job", one_job().created("again", job(200, "a", "queued")));
    breaks("", "one-job", one_job().created("again", job(201, "b", "queued")), "became 2 jobs");
}

#[test]
fn the_database_knows_of_jobs_that_no_answer_told() {
    holds("", "one-job", one_job().counted(1));
    breaks("", "one-job", one_job().counted(2), "holds 2 jobs");
}

#[test]
fn whoever_is_told_of_a_job_can_read_it() {
    holds("", "one-job", one_job().saw("look", job(200, "a", "running")));
    breaks("", "one-job", one_job().reads("look", "a").answered("look", answer(404)), "could not read it");
}

#[test]
fn a_refusal_does_not_make_a_job() {
    let refused = job(409, "b", "queued");
    holds("", "one-job", one_job().created("other", refused));
}

#[test]
fn a_duplicate_is_no_reason_for_a_server_error() {
    holds("", "no-server-error", one_job().created("again", answer(409)));
    breaks("", "no-server-error", one_job().created("again", answer(500)), "answered with 500");
}

#[test]
fn a_service_may_say_that_it_is_busy_if_it_says_when_to_come_again() {
    let mut busy = answer(503);
    busy.headers.insert("retry-after".to_owned(), "1".to_owned());
    holds("", "no-server-error", one_job().created("again", busy));
    breaks("", "no-server-error", one_job().created("again", answer(503)), "answered with 503");
}

#[test]
fn a_fault_of_ours_excuses_server_errors_after_it() {
    holds("", "no-server-error", one_job().fault("cut").created("again", answer(503)));
}

#[test]
fn an_error_tells_nobody_a_secret() {
    let telling = |status| {
        let mut answer = answer(status);
        answer.fields.insert(LEAKED.to_owned(), "***".to_owned());
        one_job().created("again", answer)
    };
    breaks("", "no-secret-told", telling(403), "answered with 403, and the answer holds a secret");
    let discreet = judge(&scenario(""), &[one_job().created("again", answer(403)).view()]);
    assert!(discreet.promises.iter().all(|(promise, _)| promise.name != "no-secret-told"));
}

#[test]
fn a_terminal_job_never_changes() {
    let over = || one_job().saw("look", decided("a", "1", "x"));
    holds("", "final", over().saw("again", decided("a", "1", "x")));
    breaks("", "final", over().saw("again", decided("a", "1", "y")), "result changed");
    breaks("", "final", over().saw("again", decided("a", "2", "x")), "winner changed");
    breaks("", "final", over().saw("again", job(200, "a", "running")), "state changed");
}

#[test]
fn a_read_that_left_before_the_end_was_known_may_see_the_job_unfinished() {
    let story = one_job().reads("early", "a").saw("look", decided("a", "1", "x"));
    holds("", "final", story.answered("early", job(200, "a", "running")));
}

#[test]
fn no_intent_is_lost() {
    holds("", "no-lost-intent", one_job());
    let storm = || Story::new().submits("click.1").submits("click.2");
    let lost = storm().answered("click.1", answer(409)).answered("click.2", answer(409));
    breaks("", "no-lost-intent", lost, "no job at all");
}

#[test]
fn a_request_that_is_refused_for_its_own_sake_promises_no_job() {
    holds("", "no-lost-intent", Story::new().created("click", answer(400)));
}

#[test]
fn jobs_calls_and_effects_are_counted_per_key() {
    holds("[invariants]\njobs = { exactly = 1 }", "jobs", one_job());
    breaks("[invariants]\njobs = { exactly = 2 }", "jobs", one_job(), "1, not 2");
    holds("[invariants]\ncalls = { exactly = 1 }", "calls", one_job());
    breaks(
        "[invariants]\ncalls = { max = 1 }",
        "calls",
        one_job().called("rest", "a", "2"),
        "2, not at most one",
    );
    holds(
        "[invariants]\neffects = { max = 2 }",
        "effects",
        one_job().called("rest", "a", "2").effect("rest"),
    );
    breaks(
        "[invariants]\neffects = { min = 1 }",
        "effects",
        Story::new().created("click", job(201, "a", "queued")),
        "0, not",
    );
}

#[test]
fn one_attempt_wins() {
    let asks = "[invariants]\nwinners = { exactly = 1, per = \"job\" }";
    holds(
        asks,
        "winners",
        one_job().saw("look", decided("a", "1", "x")).saw("again", decided("a", "1", "x")),
    );
    breaks(
        asks,
        "winners",
        one_job().saw("look", decided("a", "1", "x")).saw("again", decided("a", "2", "x")),
        "2, not one",
    );
    breaks(
        asks,
        "winners",
        one_job().saw("look", decided("a", "1", "x")).saw("again", decided("a", "1", "y")),
        "x and y",
    );
    breaks(asks, "winners", one_job(), "0, not one");
}

#[test]
fn only_the_accepted_payload_reaches_the_provider() {
    holds("[invariants]\npayloads = [\"P\"]", "payloads", one_job());
    breaks("[invariants]\npayloads = [\"Q\"]", "payloads", one_job(), "Payload P reached");
}

#[test]
fn the_result_is_the_winners() {
    let asks = "[invariants]\nresult_of_winner = true";
    holds(asks, "result-of-winner", one_job().saw("look", decided("a", "1", "answer-first")));
    breaks(
        asks,
        "result-of-winner",
        one_job().saw("look", decided("a", "1", "other")),
        "the job's result is other",
    );
    undecided(asks, "result-of-winner", one_job().saw("look", decided("a", "7", "other")));
}

#[test]
fn states_come_in_the_order_of_the_path() {
    let asks = "[invariants]\npath = [\"accepted?\", \"running?\", \"unknown\", \"terminal\"]";
    let saw = |states: &[&str]| {
        let start = Story::new().created("click", job(201, "a", "accepted"));
        states
            .iter()
            .enumerate()
            .fold(start, |story, (n, state)| story.saw(&format!("look-{n}"), job(200, "a", state)))
    };
    holds(asks, "path", saw(&["running", "unknown", "unknown", "failed"]));
    holds(asks, "path", saw(&["unknown", "succeeded"]));
    breaks(asks, "path", saw(&["running", "failed"]), "before it was unknown");
    breaks(asks, "path", saw(&["unknown", "running"]), "running");
    breaks(asks, "path", saw(&["running", "unknown"]), "never seen terminal");
}

#[test]
fn a_job_is_decided_once() {
    let asks = "[invariants]\ndecided_once = true";
    let over = || one_job().saw("look", decided("a", "1", "x"));
    holds(asks, "decided-once", over());
    breaks(asks, "decided-once", over().saw("again", job(200, "a", "running")), "asked later");
    breaks(asks, "decided-once", over().saw("again", decided("a", "2", "x")), "two different decisions");
    let overlapping = one_job().reads("early", "a").saw("look", decided("a", "1", "x"));
    holds(asks, "decided-once", overlapping.answered("early", job(200, "a", "running")));
}

#[test]
fn a_result_is_not_known_before_its_call_was_let_go() {
    let asks = "[invariants]\ndecided_once = true";
    let story = Story::new().created("click", job(201, "a", "queued")).called("A", "a", "1");
    breaks(
        asks,
        "decided-once",
        story.saw("look", decided("a", "1", "x")).released("A"),
        "before the winning call",
    );
    // Somebody who decides by other evidence knows the result before the call is answered.
    let story = Story::new().created("click", job(201, "a", "queued")).called("A", "a", "1");
    let resolved = story.asks("resolve", "resolve", "a").answered("resolve", decided("a", "1", "x"));
    holds(asks, "decided-once", resolved.released("A"));
}

#[test]
fn calls_carry_the_jobs_identity() {
    let asks = "[invariants]\nidentity = true";
    holds(asks, "identity", one_job());
    breaks(asks, "identity", one_job().called("rest", "", "2"), "carried no identity");
    breaks(asks, "identity", one_job().called("rest", "b", "2"), "which is no job's");
    undecided(asks, "identity", Story::new().created("click", job(201, "a", "queued")));
}

/// A report shows these in bold, and what broke in red: one too many and everything looks broken.
#[test]
fn evidence_is_exactly_what_broke_and_what_it_contradicts() {
    // Positions: 0 and 1 the submit, 2 the call, 3 its effect, 4 its reply; what a test adds comes after.
    let two_effects = || one_job().called("rest", "a", "2").effect("rest");
    points_at("", "one-effect", two_effects(), &[3], &[6]);
    points_at("[invariants]\neffects = { max = 1 }", "effects", two_effects(), &[3], &[6]);
    points_at("[invariants]\neffects = { exactly = 0 }", "effects", two_effects(), &[], &[3, 6]);
    points_at("[invariants]\ncalls = { max = 1 }", "calls", two_effects(), &[2], &[5]);
    let no_effect = Story::new().created("click", job(201, "a", "queued")).called("first", "a", "1");
    points_at("[invariants]\neffects = { min = 1 }", "effects", no_effect.replied("first", "x"), &[], &[3]);

    let told_twice = || one_job().created("again", job(200, "a", "queued"));
    let two_jobs = || told_twice().created("third", job(201, "b", "queued"));
    points_at("", "one-job", two_jobs(), &[1], &[8]);
    points_at("[invariants]\njobs = { max = 1 }", "jobs", two_jobs(), &[1], &[8]);
    points_at("", "one-job", told_twice().counted(2), &[], &[7]);

    let two_winners = one_job()
        .saw("look", decided("a", "1", "x"))
        .saw("again", decided("a", "1", "x"))
        .saw("last", decided("a", "2", "x"));
    points_at("[invariants]\nwinners = { exactly = 1, per = \"job\" }", "winners", two_winners, &[6], &[10]);
    let late = || one_job().logged("created").logged("started").kept("\"answer-B\"");
    points_at("[invariants]\nlogged = [\"result-discarded\"]", "logged", late(), &[], &[]);
    points_at("[invariants]\nkept = [\"answer-first\"]", "kept", late(), &[4], &[]);
}

#[test]
fn calls_carry_the_trace_of_the_request() {
    const ASKED: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const FIRST: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-1111111111111111-01";
    const SECOND: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-2222222222222222-01";
    const FOREIGN: &str = "00-00000000000000000000000000000001-3333333333333333-01";
    let asks = "[invariants]\ntrace = true";
    let asked = || Story::new().submits("click").traced(ASKED).answered("click", job(201, "a", "queued"));
    let first = || asked().called("first", "a", "1").traced(FIRST);
    holds(asks, "trace", first());
    holds(asks, "trace", first().called("second", "a", "2").traced(SECOND));
    breaks(asks, "trace", asked().called("first", "a", "1"), "no trace context");
    breaks(asks, "trace", asked().called("first", "a", "1").traced("00-zz-1-01"), "no trace context");
    breaks(asks, "trace", asked().called("first", "a", "1").traced(FOREIGN), "no request for its job did");
    breaks(asks, "trace", first().called("second", "a", "2").traced(FIRST), "the span of an earlier call");
    breaks(asks, "trace", first().called("second", "a", "1").traced(SECOND), "the attempt 1, as an earlier");
    undecided(asks, "trace", asked());
    undecided(
        asks,
        "trace",
        Story::new().created("click", job(201, "a", "queued")).called("first", "a", "1"),
    );
}

#[test]
fn late_results_are_logged_and_kept() {
    let asks = "[invariants]\nlogged = [\"result-discarded\"]\nkept = [\"answer-A\"]";
    holds(asks, "logged", one_job().logged("result-discarded"));
    breaks(asks, "logged", one_job().logged("created"), "tells of created");
    holds(asks, "kept", one_job().kept("\"answer-A\""));
    breaks(asks, "kept", one_job().kept("\"answer-B\""), "answer-A was not kept");
}

#[test]
fn an_answer_is_held_against_what_was_expected_of_it() {
    let asks = "expect = { status = [201], has = [\"job\"], never = [\"result\"] }";
    holds(asks, "expect:click", one_job());
    breaks(
        asks,
        "expect:click",
        Story::new().created("click", answer(409)),
        "answered with 409, not with 201",
    );
    breaks(asks, "expect:click", Story::new().created("click", answer(201)), "does not tell job");
    breaks(asks, "expect:click", Story::new().created("click", decided("a", "1", "x")), "200, not with 201");
    breaks(asks, "expect:click", Story::new().submits("click").lost("click"), "got no answer");
    breaks(asks, "expect:click", Story::new().submits("click"), "never answered");
    undecided(asks, "expect:click", Story::new().submits("another"));
}

#[test]
fn one_of_several_answers_may_be_singled_out() {
    let storm = |first, second| {
        let story = Story::new().submits("click.1").submits("click.2");
        story.answered("click.1", first).answered("click.2", second)
    };
    let made = || job(201, "a", "queued");
    let found = || job(200, "a", "queued");
    let one = "expect_one = { status = [201] }";
    holds(one, "expect:click", storm(made(), found()));
    breaks(one, "expect:click", storm(made(), made()), "2 are as expected");
    breaks(one, "expect:click", storm(found(), found()), "0 are as expected");
    let some = "expect_some = { status = [201] }";
    holds(some, "expect:click", storm(made(), made()));
    breaks(some, "expect:click", storm(found(), found()), "not at least one");
}

#[test]
fn an_answer_is_compared_with_an_earlier_one() {
    let asks = "[[step]]\nid = \"again\"\ndo = \"submit\"\nwith = { key = \"K\", payload = \"P\" }\nexpect = { same = [\"job\"], as = \"click\" }";
    holds(asks, "expect:again", one_job().created("again", job(200, "a", "running")));
    holds(asks, "expect:again", one_job().created("again", answer(409)));
    breaks(
        asks,
        "expect:again",
        one_job().created("again", job(200, "b", "running")),
        "tells job b, and click told a",
    );
    breaks(asks, "expect:again", one_job().created("again", answer(200)), "does not tell job");
}

/// Acknowledged, gone, and asked for again.
fn lost_and_found() -> Story {
    let gone = one_job().reads("look", "a").answered("look", answer(404));
    gone.created("again", job(201, "b", "queued"))
}

#[test]
fn a_job_that_the_scenario_may_lose_is_no_second_job_when_it_is_made_again() {
    let may_lose = "[invariants]\nmay_lose = [\"click\"]";
    holds(may_lose, "one-job", lost_and_found());
    breaks("", "one-job", lost_and_found(), "became 2 jobs");
    let both_there = one_job().created("again", job(201, "b", "queued"));
    breaks(may_lose, "one-job", both_there, "became 2 jobs");
    let twice = lost_and_found().called("rest", "b", "1").effect("rest");
    breaks(may_lose, "one-effect", twice, "2 effects");
}

#[test]
fn what_was_lost_is_told() {
    let asks = "[witness]\nlost = [\"click\"]";
    let (seen, detail) = witness(asks, lost_and_found().view());
    assert!(seen && detail.contains("1 acknowledged, now gone (a), 1 effects"), "{detail}");
    missing(asks, one_job(), "nothing");
}

fn witness(asks: &str, view: View) -> (bool, String) {
    let judgement = judge(&scenario(asks), &[view]);
    let (sighting, rounds) = judgement.witnesses.first().expect("one witness is asked for");
    (!rounds.is_empty(), sighting.detail.clone())
}

#[track_caller]
fn seen(asks: &str, story: Story) {
    let (seen, detail) = witness(asks, story.view());
    assert!(seen, "{detail}");
}

#[track_caller]
fn missing(asks: &str, story: Story, because: &str) {
    let (seen, detail) = witness(asks, story.view());
    assert!(!seen && detail.contains(because), "{detail}");
}

#[test]
fn a_race_was_run_only_if_all_waited_and_none_was_early() {
    let asks = "[witness]\nraced = [\"click\"]";
    let storm = || Story::new().submits("click.1").submits("click.2");
    let ended = |story: Story| story.answered("click.1", answer(200)).answered("click.2", answer(200));
    seen(asks, ended(storm().gate("click", "lock", 2, 2, 0)));
    missing(asks, ended(storm().gate("click", "lock", 1, 2, 0)), "1 of 2 waited");
    missing(asks, ended(storm().gate("click", "lock", 2, 2, 1)), "before the gate opened");
    missing(asks, ended(storm()), "no gate opened");
    seen(asks, ended(storm().gate("click", "arrival-h1", 2, 2, 0)));
    let one_by_one = Story::new().submits("click.1").answered("click.1", answer(200)).submits("click.2");
    let one_by_one = one_by_one.answered("click.2", answer(200)).gate("click", "arrival-h1", 2, 2, 0);
    missing(asks, one_by_one, "answered before the last was sent");
}

#[test]
fn two_calls_were_out_together_only_if_neither_was_over() {
    let asks = "[witness]\nboth_out = [\"A\", \"B\"]";
    let both = || Story::new().called("A", "a", "1").called("B", "a", "2");
    seen(asks, both().replied("B", "b").replied("A", "a"));
    missing(
        asks,
        Story::new().called("A", "a", "1").replied("A", "a").called("B", "a", "2"),
        "call A was over",
    );
    missing(asks, Story::new().called("A", "a", "1"), "call B never came");
}

#[test]
fn a_call_timed_out_if_the_service_gave_up_before_the_answer() {
    let asks = "[witness]\ntimed_out = [\"A\"]";
    let out = || Story::new().created("click", job(201, "a", "queued")).called("A", "a", "1");
    seen(asks, out().saw("look", job(200, "a", "unknown")));
    seen(asks, out().hung_up("A"));
    missing(asks, out().replied("A", "x").saw("look", job(200, "a", "unknown")), "nothing shows");
    missing(asks, out(), "nothing shows");
}

#[test]
fn an_answer_was_late_if_the_decision_was_known_before() {
    let asks = "[witness]\nlate = [\"A\"]";
    let out = || Story::new().created("click", job(201, "a", "queued")).called("A", "a", "1");
    seen(asks, out().saw("look", decided("a", "2", "x")).replied("A", "y"));
    missing(asks, out().replied("A", "y").saw("look", decided("a", "1", "y")), "before anybody was told");
}

#[test]
fn a_fault_must_have_hit() {
    let asks = "[witness]\nhit = [\"cut\"]";
    seen(asks, one_job().fault("cut").hit("cut"));
    missing(asks, one_job().fault("cut"), "hit nothing");
    missing(asks, one_job(), "never applied");
}

#[test]
fn a_hidden_effect_happened_and_was_not_told() {
    let asks = "[witness]\nhidden_effect = [\"A\"]";
    seen(asks, Story::new().called("A", "a", "1").effect("A"));
    missing(asks, Story::new().called("A", "a", "1"), "had no effect");
    missing(asks, Story::new().called("A", "a", "1").effect("A").replied("A", "x"), "was answered");
}

#[test]
fn without_its_witness_nothing_passes_and_a_broken_promise_needs_none() {
    let asks = scenario("[witness]\nraced = [\"click\"]");
    assert_eq!(judge(&asks, &[one_job().view()]).verdict(), Verdict::Inconclusive);
    let broken = one_job().created("again", job(201, "b", "queued"));
    assert_eq!(judge(&asks, &[broken.view()]).verdict(), Verdict::Fail);
    let asks = scenario("[witness]\nanswered = [\"click\"]");
    assert_eq!(judge(&asks, &[one_job().view()]).verdict(), Verdict::Pass);
    assert_eq!(judge(&asks, &[one_job().missed("click").view()]).verdict(), Verdict::Inconclusive);
}

#[test]
fn a_witness_seen_in_one_round_is_seen_and_a_promise_broken_in_one_is_broken() {
    let asks = scenario("[witness]\nhit = [\"cut\"]");
    let rounds = |stories: Vec<Story>| -> Vec<View> {
        let numbered = stories.into_iter().zip(1..);
        numbered.map(|(story, round)| story.view_of(round)).collect()
    };
    let judged = judge(&asks, &rounds(vec![one_job(), one_job().fault("cut").hit("cut")]));
    assert_eq!(judged.verdict(), Verdict::Pass);
    let broken = one_job().created("again", job(201, "b", "queued"));
    let judged = judge(&asks, &rounds(vec![one_job(), broken, one_job()]));
    assert_eq!((judged.verdict(), judged.round), (Verdict::Fail, 2));
}

#[test]
fn too_little_says_nothing_in_a_round_that_was_broken_off_and_too_much_says_all() {
    let asks = "[invariants]\ncalls = { exactly = 1 }\nlogged = [\"created\"]";
    let judged = |view| {
        let judgement = judge(&scenario(asks), &[view]);
        let outcomes = judgement.promises.into_iter().map(|(promise, _)| (promise.name, promise.outcome));
        outcomes
            .filter(|(name, _)| name == "calls" || name == "logged")
            .map(|(_, outcome)| outcome)
            .collect::<Vec<_>>()
    };
    let none = || Story::new().created("click", job(201, "a", "queued"));
    assert_eq!(judged(none().unfinished()), [Outcome::Undecided, Outcome::Undecided]);
    assert_eq!(judged(none().view()), [Outcome::Broke, Outcome::Broke]);
    assert_eq!(judged(one_job().called("rest", "a", "2").unfinished())[0], Outcome::Broke);
}

#[test]
fn a_forbidden_call_is_a_violation_in_itself() {
    let forbidden = || one_job().called_against_orders("rest", "a", "2");
    holds("", "no-forbidden-call", one_job());
    breaks("", "no-forbidden-call", forbidden(), "no call was allowed");
}

#[test]
fn a_cancelled_job_had_no_effect() {
    let asks = "[invariants]\ncancelled_had_no_effect = true";
    let cancelled = || Story::new().created("click", job(201, "a", "queued")).called("first", "a", "1");
    holds(asks, "cancelled-had-no-effect", cancelled().saw("look", job(200, "a", "cancelled")));
    let both = cancelled().effect("first").saw("look", job(200, "a", "cancelled"));
    breaks(asks, "cancelled-had-no-effect", both, "took effect");
}

#[test]
fn a_server_error_that_the_scenario_asks_for_is_none() {
    holds("expect = { status = [201, 503] }", "no-server-error", one_job().created("again", answer(503)));
    breaks("expect = { status = [201] }", "no-server-error", one_job().created("again", answer(503)), "503");
}

const GIVES_UP: &str = "[[step]]\nid = \"gives-up\"\ndo = \"cancel-attempt\"\njob = \"click\"\n\
                        with = { attempt = 1, evidence = \"e\" }\n";

#[test]
fn an_attempt_that_was_given_up_does_not_win() {
    let given_up = |status| {
        let story = one_job().asks("gives-up", "cancel-attempt", "a");
        story.answered("gives-up", job(status, "a", "accepted"))
    };
    let law = "given-up-stays-given-up";
    holds(GIVES_UP, law, given_up(200).saw("end", decided("a", "2", "answer-second")));
    breaks(GIVES_UP, law, given_up(200).saw("end", decided("a", "1", "answer-first")), "taken all the same");
    holds(GIVES_UP, law, given_up(409).saw("end", decided("a", "1", "answer-first")));
    holds(GIVES_UP, law, one_job().saw("end", decided("a", "1", "answer-first")));
}

#[test]
fn an_acknowledged_job_is_begun() {
    let law = "acknowledged-is-carried-out";
    let told = || Story::new().created("click", job(201, "a", "accepted"));
    let waits = |story: Story| {
        let story = story.saw("end", job(200, "a", "accepted")).later(6_000_000);
        story.saw("end", job(200, "a", "accepted")).missed("end")
    };
    breaks("", law, waits(told()), "nothing was begun in the 6 s");
    // It moved, if not to its end.
    holds("", law, waits(told()).saw("end", job(200, "a", "unknown")));
    // A step that saw what it waited for is no step that waited in vain.
    holds("", law, told().saw("end", job(200, "a", "accepted")).later(6_000_000));
}

#[test]
fn a_sweep_must_have_found_points_and_hit_most_of_them() {
    let sweep = scenario("expect = { status = [201] }\n[sweep]\nkill = \"after\"");
    let rounds = |hits: u32| {
        let mut rounds = vec![one_job().rehearsed(9, 4).view_of(1)];
        rounds.extend((2..=5).map(|round| {
            let play = one_job();
            if round - 2 < hits { play.hit("kill").view_of(round) } else { play.view_of(round) }
        }));
        rounds
    };
    let judged = |rounds: &[View]| judge(&sweep, rounds);
    assert_eq!(judged(&rounds(4)).verdict(), Verdict::Pass);
    let (sighting, _) = &judged(&rounds(3)).witnesses[0];
    assert!(
        sighting.seen
            && sighting.detail.contains("9 points found, 4 of them here, 3 kills hit, 1 lay beyond")
    );
    assert_eq!(judged(&rounds(2)).verdict(), Verdict::Inconclusive, "half of the points were not hit");
    let nothing = [one_job().rehearsed(0, 0).view_of(1)];
    assert_eq!(judged(&nothing).verdict(), Verdict::Inconclusive, "nothing was found");
    assert_eq!(judged(&[one_job().view()]).verdict(), Verdict::Inconclusive, "nothing was looked for");
}
