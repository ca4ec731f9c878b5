use super::*;
use crate::scenario::Reply;

fn script(call: &str) -> Script {
    Script { call: call.to_owned(), reply: Reply::Succeed, ..Rule::succeed().script }
}

fn heard(body: &str) -> Heard {
    Heard { provider: "primary".to_owned(), body: body.to_owned(), ..Heard::default() }
}

fn markers(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, marker)| ((*name).to_owned(), (*marker).to_owned())).collect()
}

/// A desk with one scripted round, and the names that calls with these bodies get.
fn names(rules: Vec<Script>, calls: &[Heard]) -> Vec<String> {
    let desk = Desk::new(Recorder::new());
    desk.script(1, rules, markers(&[("P", "m-p"), ("Q", "m-q")])).unwrap();
    for call in calls {
        drop(desk.take(call.clone()));
    }
    desk.look(|state| state.calls.iter().map(|call| call.name.clone()).collect())
}

#[test]
fn rules_take_calls_in_the_order_of_arrival_and_calls_beyond_them_get_names_too() {
    let rules = vec![Script { times: Some(2), ..script("A") }, script("B")];
    assert_eq!(names(rules, &vec![heard("m-p"); 5]), ["A", "A.2", "B", "more", "more.2"]);
}

#[test]
fn rest_takes_only_what_no_other_rule_takes_wherever_it_stands() {
    let rules = vec![script("rest"), script("A")];
    assert_eq!(names(rules, &vec![heard("m-p"); 3]), ["A", "rest", "rest.2"]);
}

#[test]
fn rules_for_a_payload_or_a_provider_leave_other_calls_alone() {
    let other = Heard { provider: "fallback".to_owned(), ..heard("m-p") };
    let rules = vec![
        Script { provider: Some("fallback".to_owned()), ..script("F") },
        Script { payload: Some("Q".to_owned()), ..script("Q") },
    ];
    assert_eq!(
        names(rules, &[heard("m-p"), heard("m-q"), other, heard("none")]),
        ["more", "Q", "F", "more.2"]
    );
}

#[test]
fn two_rules_of_one_name_never_make_two_calls_of_one_name() {
    assert_eq!(names(vec![script("A"), script("A")], &vec![heard("m-p"); 2]), ["A", "A.2"]);
}

#[test]
fn a_call_belongs_to_the_round_whose_marker_it_carries_however_late_it_comes() {
    let desk = Desk::new(Recorder::new());
    desk.script(1, vec![script("A")], markers(&[("P", "one")])).unwrap();
    desk.script(2, vec![script("B")], markers(&[("P", "two")])).unwrap();
    for body in ["{\"x\":\"two\"}", "{\"x\":\"one\"}", "{\"x\":\"three\"}"] {
        drop(desk.take(heard(body)));
    }
    let seen =
        desk.look(|state| state.calls.iter().map(|call| (call.round, call.name.clone())).collect::<Vec<_>>());
    assert_eq!(seen, [(2, "B".to_owned()), (1, "A".to_owned()), (2, "more".to_owned())]);
}

#[test]
fn a_marker_that_begins_like_another_is_not_taken_for_it() {
    let desk = Desk::new(Recorder::new());
    desk.script(
        1,
        vec![Script { payload: Some("P1".to_owned()), ..script("A") }],
        markers(&[("P", "m-p"), ("P1", "m-p1")]),
    )
    .unwrap();
    drop(desk.take(heard("m-p1")));
    drop(desk.take(heard("m-p")));
    desk.look(|state| {
        assert_eq!((state.calls[0].name.as_str(), state.calls[1].name.as_str()), ("A", "more"));
    });
}

#[test]
fn a_call_without_a_marker_belongs_to_the_round_of_the_job_that_it_names() {
    let desk = Desk::new(Recorder::new());
    desk.script(1, vec![], markers(&[("P", "one")])).unwrap();
    let known = Heard { identity: Some("j-1".to_owned()), ..heard("one") };
    drop(desk.take(known.clone()));
    desk.script(2, vec![], markers(&[("P", "two")])).unwrap();
    drop(desk.take(Heard { body: String::new(), ..known }));
    desk.look(|state| assert_eq!(state.calls[1].round, 1));
}

#[test]
fn what_is_not_held_cannot_be_released_and_then_nothing_is() {
    let recorder = Recorder::new();
    let desk = Desk::new(Arc::clone(&recorder));
    let holding = Script { reply: Reply::Hold, ..script("A") };
    desk.script(1, vec![holding, script("B")], markers(&[])).unwrap();
    let mut waiting = desk.take(heard(""));
    let _other = desk.take(heard(""));
    let both = ["A".to_owned(), "B".to_owned()];
    assert!(matches!(desk.release(1, &both), Err(DoubleError::NotHeld { .. })));
    assert!(waiting.word.try_recv().is_err());
    let missing = desk.release(1, &["C".to_owned()]).unwrap_err().to_string();
    assert!(missing.contains("it has seen: A, B"), "{missing}");
    desk.release(1, &both[..1]).unwrap();
    assert_eq!(waiting.word.try_recv(), Ok(Word::Go));
    assert!(matches!(desk.release(1, &both[..1]), Err(DoubleError::NotHeld { .. })));
    let released = recorder
        .look(|events| events.iter().filter(|event| matches!(event.kind, Kind::Released { .. })).count());
    assert_eq!(released, 1);
}

#[test]
fn a_call_that_is_dropped_has_lost_its_caller_unless_all_is_over() {
    let recorder = Recorder::new();
    let desk = Desk::new(Arc::clone(&recorder));
    drop(desk.take(heard("")));
    let late = desk.take(heard(""));
    desk.abandon(None);
    drop(late);
    let ends: Vec<_> = recorder
        .events()
        .into_iter()
        .filter_map(|event| match event.kind {
            Kind::CallEnded { how, .. } => Some(how),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [crate::history::CallEnd::CallerGone, crate::history::CallEnd::Abandoned]);
}
