//! Small changes to a history.

use onejob::history::{Event, Kind};

use super::invent::Random;

/// Changes a history in one or two places; gives the name of the last change.
pub fn mutate(mut events: Vec<Event>, random: &mut Random) -> (&'static str, Vec<Event>) {
    let mut name = "none";
    for _ in 0..=random.below(2) {
        name = match random.below(6) {
            0 => swap_neighbours(&mut events, random),
            1 => swap_any(&mut events, random),
            2 => drop_one(&mut events, random),
            3 => duplicate(&mut events, random),
            _ => swap_answers(&mut events, random),
        };
    }
    // Where events stand is told anew, as by somebody who did it on purpose; a gap alone would be too easy to see.
    for (place, event) in events.iter_mut().enumerate() {
        event.seq = place as u64;
        event.at_us = event.seq * 100;
    }
    (name, events)
}

/// Two events that follow each other change places.
fn swap_neighbours(events: &mut [Event], random: &mut Random) -> &'static str {
    if events.len() > 1 {
        let at = random.below(events.len() - 1);
        events.swap(at, at + 1);
    }
    "swap neighbours"
}

/// Any two events change places.
fn swap_any(events: &mut [Event], random: &mut Random) -> &'static str {
    let (one, other) = (random.below(events.len()), random.below(events.len()));
    events.swap(one, other);
    "swap any two"
}

fn drop_one(events: &mut Vec<Event>, random: &mut Random) -> &'static str {
    if events.len() > 1 {
        events.remove(random.below(events.len()));
    }
    "drop"
}

fn duplicate(events: &mut Vec<Event>, random: &mut Random) -> &'static str {
    let event = events[random.below(events.len())].clone();
    events.insert(random.below(events.len() + 1), event);
    "duplicate"
}

/// Two requests get each other's answer.
fn swap_answers(events: &mut [Event], random: &mut Random) -> &'static str {
    let answered = |event: &Event| matches!(event.kind, Kind::Answered { .. });
    let places: Vec<usize> = (0..events.len()).filter(|at| answered(&events[*at])).collect();
    if places.len() > 1 {
        let (one, other) = (places[random.below(places.len())], places[random.below(places.len())]);
        let (first, second) = (events[one].kind.clone(), events[other].kind.clone());
        if let (Kind::Answered { answer: theirs, .. }, Kind::Answered { answer: ours, .. }) = (first, second)
        {
            for (at, new) in [(one, ours), (other, theirs)] {
                if let Kind::Answered { answer, .. } = &mut events[at].kind {
                    *answer = new;
                }
            }
        }
    }
    "swap answers"
}
