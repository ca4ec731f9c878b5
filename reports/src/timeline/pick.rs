use std::collections::{BTreeSet, HashMap};

use crate::model::{Cell, Lane, Mark, Moment, Outcome};

/// A line of a shortened timeline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Picked<'a> {
    /// A moment that is shown, and how many of the same it stands for: a client that polls is told once.
    Moment(&'a Moment, usize),
    /// So many moments that are not.
    Omitted(usize),
}

/// The timeline in the order in which things happened; of two at the same microsecond, the lower id first.
#[must_use]
pub fn in_order(cell: &Cell) -> Vec<&Moment> {
    let mut moments: Vec<&Moment> = cell.timeline.iter().collect();
    moments.sort_by_key(|moment| (moment.at_us, moment.id));
    moments
}

/// Ids of the moments that show a broken promise.
#[must_use]
pub fn evidence(cell: &Cell) -> BTreeSet<u64> {
    cell.promises
        .iter()
        .filter(|promise| promise.outcome == Outcome::Broke)
        .flat_map(|promise| promise.evidence.iter().copied())
        .collect()
}

/// The `most` moments that tell most, in order, with what was left out counted where it was left out.
///
/// Evidence comes first, then what is marked, then where each lane begins and ends: a reader who sees only these still
/// sees which promise broke and who won.
#[must_use]
pub fn pick(cell: &Cell, most: usize) -> Vec<Picked<'_>> {
    let each = in_order(cell).into_iter().map(|moment| (moment, 1)).collect();
    shortened(cell, each, most)
}

/// As [`pick`], with what somebody did again and again, with the same outcome and nothing else in between, as one.
#[must_use]
pub fn pick_folded(cell: &Cell, most: usize) -> Vec<Picked<'_>> {
    let evidence = evidence(cell);
    let mut folded: Vec<(&Moment, usize)> = Vec::new();
    let mut last: HashMap<(Lane, &str), usize> = HashMap::new();
    for moment in in_order(cell) {
        let before = last.get(&(moment.lane, moment.who.as_str())).map(|&index| (index, folded[index].0));
        match before {
            Some((index, same))
                if (&same.what, same.mark) == (&moment.what, moment.mark)
                    && !evidence.contains(&moment.id)
                    && !evidence.contains(&same.id) =>
            {
                folded[index].1 += 1;
            }
            _ => {
                last.insert((moment.lane, &moment.who), folded.len());
                folded.push((moment, 1));
            }
        }
    }
    shortened(cell, folded, most)
}

fn shortened<'a>(cell: &Cell, moments: Vec<(&'a Moment, usize)>, most: usize) -> Vec<Picked<'a>> {
    if moments.len() <= most {
        return moments.into_iter().map(|(moment, times)| Picked::Moment(moment, times)).collect();
    }
    let evidence = evidence(cell);
    let (firsts, lasts) = lane_ends(&moments);
    let mut ranked: Vec<usize> = (0..moments.len()).collect();
    ranked.sort_by_key(|&index| {
        let moment = moments[index].0;
        let rank = if evidence.contains(&moment.id) {
            0
        } else {
            match moment.mark {
                Mark::Broke => 0,
                Mark::Won | Mark::Discarded | Mark::Effect | Mark::Unknown => 1,
                Mark::Refused => 2,
                Mark::Plain if firsts.contains(&index) || lasts.contains(&index) => 3,
                Mark::Plain => 4,
            }
        };
        (rank, index)
    });
    let shown: BTreeSet<usize> = ranked.into_iter().take(most).collect();
    let mut picked = Vec::with_capacity(most + 4);
    let mut omitted = 0;
    for (index, (moment, times)) in moments.into_iter().enumerate() {
        if shown.contains(&index) {
            if omitted > 0 {
                picked.push(Picked::Omitted(omitted));
                omitted = 0;
            }
            picked.push(Picked::Moment(moment, times));
        } else {
            omitted += times;
        }
    }
    if omitted > 0 {
        picked.push(Picked::Omitted(omitted));
    }
    picked
}

fn lane_ends(moments: &[(&Moment, usize)]) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let mut firsts: HashMap<Lane, usize> = HashMap::new();
    let mut lasts: HashMap<Lane, usize> = HashMap::new();
    for (index, (moment, _)) in moments.iter().enumerate() {
        firsts.entry(moment.lane).or_insert(index);
        lasts.insert(moment.lane, index);
    }
    (firsts.into_values().collect(), lasts.into_values().collect())
}
