//! Every state that any order of acts can reach, within a few attempts.

use std::collections::{BTreeMap, HashSet, VecDeque};

use super::*;

/// Something that happens to a job. Attempts come home with the version that they read when they started, whatever
/// happened since: that is what a late answer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Start,
    PickUp,
    MarkEffect(i32),
    Succeed(i32, i64),
    Fail(i32, i64, bool),
    LoseTrack(i32, i64),
    Lapse(i32),
    CancelJob(bool),
    CancelAttempt(i32),
    Resolve(i32, Evidence),
}

const MOST_ATTEMPTS: usize = 3;

fn acts(job: &Job) -> Vec<Act> {
    let mut acts = vec![Act::CancelJob(false), Act::CancelJob(true)];
    if job.attempts.len() < MOST_ATTEMPTS {
        acts.extend([Act::Start, Act::PickUp]);
    }
    for number in 1..=job.next_number() {
        acts.extend([Act::MarkEffect(number), Act::Lapse(number), Act::CancelAttempt(number)]);
        for read in 1..=job.version {
            acts.extend([Act::Succeed(number, read), Act::LoseTrack(number, read)]);
            acts.extend([true, false].map(|again| Act::Fail(number, read, again)));
        }
        let again = [true, false].map(|again| Evidence::NotExecuted { again });
        acts.extend(
            [Evidence::Succeeded, Evidence::Failed].into_iter().chain(again).map(|e| Act::Resolve(number, e)),
        );
    }
    acts
}

/// The job afterwards, if the act was not refused.
fn after(job: &Job, act: Act) -> Option<Job> {
    match act {
        Act::Start => start(job).ok(),
        Act::PickUp => pick_up(job).ok(),
        Act::MarkEffect(number) => mark_effect(job, number).ok(),
        Act::Succeed(number, read) => succeed(job, number, read).ok(),
        Act::Fail(number, read, again) => fail(job, number, read, again).ok(),
        Act::LoseTrack(number, read) => lose_track(job, number, read).ok(),
        Act::Lapse(number) => match lapse(job, number) {
            Lapse::Requeued(next) | Lapse::Unknown(next) => Some(next),
            Lapse::Nothing => None,
        },
        Act::CancelJob(accept) => match cancel_job(job, accept) {
            CancelOutcome::Cancelled(next) | CancelOutcome::Requested(next) => Some(next),
            CancelOutcome::Already | CancelOutcome::Unknown | CancelOutcome::Terminal => None,
        },
        Act::CancelAttempt(number) => cancel_attempt(job, number).ok(),
        Act::Resolve(number, evidence) => resolve(job, number, evidence).ok(),
    }
}

/// Calls `see` with every step between reachable states. Gives the number of states.
fn explore(mode: Mode, mut see: impl FnMut(&Job, Act, Option<&Job>)) -> usize {
    let first = Job::new(mode);
    let (mut seen, mut queue) = (HashSet::from([first.clone()]), VecDeque::from([first]));
    while let Some(job) = queue.pop_front() {
        for act in acts(&job) {
            let next = after(&job, act);
            see(&job, act, next.as_ref());
            if let Some(next) = next
                && seen.insert(next.clone())
            {
                queue.push_back(next);
            }
        }
    }
    seen.len()
}

fn both(mut see: impl FnMut(&Job, Act, Option<&Job>)) {
    let exclusive = explore(Mode::Exclusive, &mut see);
    let race = explore(Mode::Race, &mut see);
    // Far fewer would mean that the exploration is stuck and the checks below are vacuous.
    assert!(exclusive > 100 && race > 500, "only {exclusive} and {race} states");
}

#[test]
fn a_decided_job_never_changes() {
    both(|job, act, next| {
        if job.state.is_terminal() {
            assert_eq!(next, None, "{act:?} on {job:?}");
        }
    });
}

#[test]
fn an_exclusive_job_has_at_most_one_live_attempt() {
    explore(Mode::Exclusive, |job, act, _| assert!(job.live().count() <= 1, "before {act:?}: {job:?}"));
}

#[test]
fn no_attempt_of_a_decided_job_is_live() {
    both(|job, _, _| assert!(!job.state.is_terminal() || job.live().next().is_none(), "{job:?}"));
}

#[test]
fn the_state_of_an_undecided_job_is_that_of_its_attempts() {
    both(|job, _, _| {
        let running =
            job.attempts.iter().any(|a| matches!(a.state, AttemptState::Starting | AttemptState::Running));
        let unknown = job.attempts.iter().any(|a| a.state == AttemptState::Unknown);
        match job.state {
            JobState::Queued => assert!(!running && !unknown, "{job:?}"),
            JobState::Running => assert!(running, "{job:?}"),
            JobState::Unknown => assert!(!running && unknown, "{job:?}"),
            _ => {}
        }
    });
}

#[test]
fn a_result_belongs_to_exactly_the_attempt_that_wrote_it() {
    both(|job, _, _| {
        let winners: Vec<i32> =
            job.attempts.iter().filter(|a| a.state == AttemptState::Succeeded).map(|a| a.number).collect();
        assert_eq!(job.completed_by.into_iter().collect::<Vec<_>>(), winners, "{job:?}");
        assert_eq!(job.state == JobState::Succeeded, job.completed_by.is_some(), "{job:?}");
    });
}

#[test]
fn the_version_grows_by_one_with_a_decision_and_with_nothing_else() {
    both(|job, act, next| {
        let Some(next) = next else { return };
        let grown = next.version - job.version;
        let decides = match act {
            Act::Start | Act::PickUp | Act::MarkEffect(_) | Act::LoseTrack(..) => false,
            Act::Succeed(..) | Act::CancelAttempt(_) | Act::Resolve(..) => true,
            Act::Fail(..) | Act::CancelJob(_) => next.state.is_terminal(),
            Act::Lapse(number) => job.attempt(number).is_some_and(|attempt| !attempt.effect_started),
        };
        assert_eq!(grown, i64::from(decides), "{act:?} on {job:?}");
    });
}

#[test]
fn an_attempt_that_read_another_version_changes_nothing() {
    both(|job, act, next| {
        if let Act::Succeed(_, read) | Act::Fail(_, read, _) | Act::LoseTrack(_, read) = act
            && read != job.version
        {
            assert_eq!(next, None, "{act:?} on {job:?}");
        }
    });
}

#[test]
fn a_live_attempt_is_never_fenced_off_by_what_happens_to_others() {
    both(|job, _, _| {
        for attempt in job.live() {
            assert_eq!(attempt.job_version, job.version, "{job:?}");
        }
    });
}

#[test]
fn unknown_ends_by_evidence_or_by_decision_and_by_nothing_else() {
    both(|job, act, next| {
        let Some(next) = next else { return };
        for attempt in job.attempts.iter().filter(|attempt| attempt.state == AttemptState::Unknown) {
            let now = next.attempt(attempt.number).map(|attempt| attempt.state);
            let own = match act {
                Act::Succeed(number, _)
                | Act::Fail(number, ..)
                | Act::CancelAttempt(number)
                | Act::Resolve(number, _) => number == attempt.number,
                _ => false,
            };
            let decided = next.state == JobState::Succeeded || act == Act::CancelJob(true);
            assert!(own || decided || now == Some(AttemptState::Unknown), "{act:?} on {job:?}");
        }
    });
}

#[test]
fn unknown_blocks_every_new_attempt_of_an_exclusive_job() {
    let mut blocked = 0;
    explore(Mode::Exclusive, |job, act, next| {
        if job.state == JobState::Unknown && matches!(act, Act::Start | Act::PickUp) {
            assert_eq!(next, None, "{job:?}");
            blocked += 1;
        }
    });
    assert!(blocked > 0);
}

#[test]
fn the_effect_is_never_started_for_an_attempt_that_was_taken_away() {
    both(|job, act, next| {
        if let Act::MarkEffect(number) = act
            && next.is_some()
        {
            assert_eq!(
                job.attempt(number).map(|attempt| attempt.state),
                Some(AttemptState::Starting),
                "{job:?}"
            );
            assert!(!job.state.is_terminal(), "{job:?}");
        }
    });
}

#[test]
fn a_lapse_goes_back_to_the_queue_only_before_the_effect() {
    both(|job, act, next| {
        if let (Act::Lapse(number), Some(next)) = (act, next) {
            let state = next.attempt(number).map(|attempt| attempt.state);
            let started = job.attempt(number).is_some_and(|attempt| attempt.effect_started);
            let expected = if started { AttemptState::Unknown } else { AttemptState::Superseded };
            assert_eq!(state, Some(expected), "{job:?}");
        }
    });
}

#[test]
fn cancel_tells_the_truth() {
    both(|job, act, next| {
        assert_eq!(job.state == JobState::Cancelled, job.cancel == Cancel::Done, "{job:?}");
        if job.cancel == Cancel::TooLate {
            assert!(matches!(job.state, JobState::Succeeded | JobState::Failed), "{job:?}");
        }
        if let (Act::CancelJob(accept), Some(next)) = (act, next)
            && next.state == JobState::Cancelled
        {
            let started = job.live().any(|attempt| attempt.effect_started);
            assert!(!started || (accept && job.state == JobState::Unknown), "{act:?} on {job:?}");
        }
    });
}

#[test]
fn attempts_move_only_along_the_drawn_lines() {
    use AttemptState::{Cancelled, Failed, Running, Starting, Succeeded, Superseded, Unknown};

    let mut lines: BTreeMap<AttemptState, Vec<AttemptState>> = BTreeMap::new();
    both(|job, _, next| {
        let Some(next) = next else { return };
        for attempt in &job.attempts {
            let now = next.attempt(attempt.number).expect("attempts are never forgotten").state;
            if now != attempt.state {
                let to = lines.entry(attempt.state).or_default();
                to.push(now);
                to.sort_unstable();
                to.dedup();
            }
        }
    });
    let drawn = BTreeMap::from([
        // A callback may overtake the worker's own mark.
        (Starting, vec![Running, Succeeded, Failed, Cancelled, Superseded]),
        (Running, vec![Succeeded, Failed, Unknown, Cancelled, Superseded]),
        (Unknown, vec![Succeeded, Failed, Cancelled, Superseded]),
    ]);
    assert_eq!(lines, drawn);
}
