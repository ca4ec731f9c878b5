//! Whether a block of calls may be spoken of: one row a key, one caller who made it, and everybody told of that row.

use std::collections::BTreeMap;

use super::{Attempt, End, Unsound, claim::Told};

#[derive(Default)]
struct Key<'a> {
    calls: Vec<&'a Told>,
    rows: Vec<i64>,
}

/// Judges a block of calls against the rows that are in the database (key and number of the call that made it). Returns how
/// many other calls with its key were out while a call was, on average.
///
/// `racing` is whether calls with one key were meant to be out together.
pub fn judge_calls(told: &[Told], rows: &[(String, i64)], racing: bool) -> Result<f64, Unsound> {
    if told.iter().all(|call| call.attempt.end == End::Unknown) {
        return Err(Unsound::Nothing);
    }
    let mut keys: BTreeMap<&str, Key<'_>> = BTreeMap::new();
    for call in told {
        keys.entry(&call.key).or_default().calls.push(call);
    }
    for (key, id) in rows {
        keys.entry(key).or_default().rows.push(*id);
    }
    let (mut contested, mut shared, mut beside) = (0, 0, 0);
    for (key, found) in &keys {
        one_row(key, found)?;
        let attempts: Vec<&Attempt> = found.calls.iter().map(|call| &call.attempt).collect();
        let met = meetings(&attempts);
        shared += usize::from(attempts.len() > 1);
        contested += usize::from(met > 0);
        beside += 2 * met;
    }
    // Callers are not kept in step, so a share will do: a twentieth of the keys asked for by two at the same time.
    if racing && contested * 20 < shared {
        return Err(Unsound::NoContention { jobs: shared, contested });
    }
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    Ok(beside as f64 / told.len() as f64)
}

fn one_row(key: &str, found: &Key<'_>) -> Result<(), Unsound> {
    let key = || key.to_owned();
    let known = found.calls.iter().filter(|call| call.attempt.end != End::Unknown);
    let ids: Vec<Option<i64>> = known.map(|call| call.id).collect();
    if ids.contains(&None) {
        return Err(Unsound::Untold { key: key() });
    }
    let mut ids = ids.into_iter().flatten();
    if let Some(first) = ids.next()
        && let Some(second) = ids.find(|second| *second != first)
    {
        return Err(Unsound::TwoJobs { key: key(), first, second });
    }
    let creators = found.calls.iter().filter(|call| call.attempt.end == End::Won).count();
    // The one who made it may be one whose answer was lost.
    let lost = found.calls.iter().any(|call| call.attempt.end == End::Unknown);
    let told = found.calls.iter().find_map(|call| call.id);
    let row_stands = found.rows.len() == 1 && told.is_none_or(|told| found.rows[0] == told);
    let nothing_known = found.rows.is_empty() && lost && told.is_none();
    if (row_stands && (creators == 1 || creators == 0 && lost)) || nothing_known {
        return Ok(());
    }
    Err(Unsound::Creators { key: key(), rows: found.rows.len(), creators })
}

/// How many pairs of calls were out at the same time.
fn meetings(attempts: &[&Attempt]) -> usize {
    let mut edges: Vec<(u64, bool)> =
        attempts.iter().flat_map(|it| [(it.began_ns, true), (it.ended_ns, false)]).collect();
    // An end before a beginning at the same moment: they did not meet.
    edges.sort_unstable();
    let (mut out, mut met) = (0, 0);
    for (_, begins) in edges {
        if begins {
            met += out;
            out += 1;
        } else {
            out -= 1;
        }
    }
    met
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: i64, id: Option<i64>, end: End, span: (u64, u64)) -> Told {
        let (began_ns, ended_ns) = span;
        let attempt =
            Attempt { contender: 0, job: number, due_ns: began_ns, began_ns, ended_ns, end, retries: 0 };
        Told { attempt, key: "k".to_owned(), id }
    }

    fn rows(ids: &[i64]) -> Vec<(String, i64)> {
        ids.iter().map(|id| ("k".to_owned(), *id)).collect()
    }

    #[test]
    fn one_row_one_maker_and_everybody_told_of_it_is_sound() {
        let calls = [
            call(1, Some(1), End::Won, (0, 10)),
            call(2, Some(1), End::Lost, (5, 12)),
            call(3, Some(1), End::Lost, (20, 30)),
        ];
        let overlap = judge_calls(&calls, &rows(&[1]), true).expect("sound");
        assert!((overlap - 2.0 / 3.0).abs() < 1e-9, "{overlap}");
    }

    #[test]
    fn every_way_to_break_the_promise_is_noticed() {
        let made = call(1, Some(1), End::Won, (0, 10));
        let untold = judge_calls(&[made.clone(), call(2, None, End::Lost, (5, 12))], &rows(&[1]), true);
        assert_eq!(untold, Err(Unsound::Untold { key: "k".into() }));
        let two = judge_calls(&[made.clone(), call(2, Some(2), End::Won, (5, 12))], &rows(&[1, 2]), true);
        assert_eq!(two, Err(Unsound::TwoJobs { key: "k".into(), first: 1, second: 2 }));
        let missing = judge_calls(std::slice::from_ref(&made), &[], false);
        assert_eq!(missing, Err(Unsound::Creators { key: "k".into(), rows: 0, creators: 1 }));
        let hidden = judge_calls(&[made], &rows(&[1, 2]), false);
        assert_eq!(hidden, Err(Unsound::Creators { key: "k".into(), rows: 2, creators: 1 }));
        let nobody = judge_calls(&[call(2, Some(1), End::Lost, (0, 10))], &rows(&[1]), false);
        assert_eq!(nobody, Err(Unsound::Creators { key: "k".into(), rows: 1, creators: 0 }));
    }

    #[test]
    fn a_row_whose_maker_never_heard_of_it_is_no_break() {
        let calls = [call(1, None, End::Unknown, (0, 10)), call(2, Some(1), End::Lost, (5, 12))];
        assert!(judge_calls(&calls, &rows(&[1]), true).is_ok());
    }

    #[test]
    fn calls_that_never_meet_measure_no_race() {
        let calls = [call(1, Some(1), End::Won, (0, 10)), call(2, Some(1), End::Lost, (10, 20))];
        let apart = judge_calls(&calls, &rows(&[1]), true);
        assert_eq!(apart, Err(Unsound::NoContention { jobs: 1, contested: 0 }));
        assert!(judge_calls(&calls, &rows(&[1]), false).is_ok());
    }
}
