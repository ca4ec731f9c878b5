//! A run held against an earlier one.
//!
//! Rates of two hours are not compared: what is compared is how each stood to what was measured beside it. Both samples of
//! such ratios are then tested for whether chance alone makes so much of a difference.

use onejob_reports::bench::{BenchReport, Compared, Comparison, Repeat, Row};

use super::{
    estimate::median,
    permutation,
    report::{to_baseline, to_limit},
};

/// The level at which a difference is taken for more than chance.
pub const ALPHA: f64 = 0.05;

/// What ratios are to, and how repeats have them.
type Beside = (&'static str, fn(&[Repeat]) -> Vec<f64>);

/// The plain form first: it was raced in the same way, and needs no other program.
const BESIDE: [Beside; 2] = [("to_baseline", to_baseline), ("to_limit", to_limit)];

/// Compares every point that both runs have. `threshold` is how much worse a point may be, in percent.
#[must_use]
pub fn compare(base: &BenchReport, now: &BenchReport, named: &str, threshold: f64) -> Comparison {
    let mut comparison = Comparison {
        base: named.to_owned(),
        threshold,
        alpha: ALPHA,
        points: Vec::new(),
        left_out: Vec::new(),
    };
    for row in &now.rows {
        let name = name(row);
        let Some(earlier) = base.rows.iter().find(|earlier| same_point(earlier, row)) else {
            comparison.left_out.push(format!("{name}: the earlier run does not have it"));
            continue;
        };
        match compared(earlier, row, threshold) {
            Ok(point) => comparison.points.push(point),
            Err(why) => comparison.left_out.push(format!("{name}: {why}")),
        }
    }
    comparison
}

/// A point's name: `cas 32 scratch`.
#[must_use]
pub fn name(row: &Row) -> String {
    let share = row.duplicates.map(|percent| format!(" {percent}%")).unwrap_or_default();
    format!("{} {}{share} {}", row.strategy, row.contenders, row.cluster)
}

fn same_point(a: &Row, b: &Row) -> bool {
    let key = |row: &Row| {
        (
            row.cluster.clone(),
            row.strategy.clone(),
            row.contenders,
            row.duplicates.map(f64::to_bits),
            row.intended_rate.map(f64::to_bits),
        )
    };
    key(a) == key(b)
}

fn compared(earlier: &Row, row: &Row, threshold: f64) -> Result<Compared, String> {
    let both = BESIDE.into_iter().find_map(|(by, beside)| {
        let (before, now) = (beside(&earlier.repeats), beside(&row.repeats));
        (!before.is_empty() && !now.is_empty()).then_some((by, before, now))
    });
    let (by, before, now) = both.ok_or("nothing was measured beside it in both runs")?;
    let test = permutation(&before, &now).ok_or("its ratios are no numbers")?;
    if test.least >= ALPHA {
        return Err(format!(
            "{} repeats before and {} now are too few to tell a difference from chance",
            before.len(),
            now.len()
        ));
    }
    let medians = median(&before).zip(median(&now)).ok_or("its ratios are no numbers")?;
    let worse_percent = (1.0 - medians.1 / medians.0) * 100.0;
    Ok(Compared {
        point: name(row),
        by: by.to_owned(),
        before: medians.0,
        now: medians.1,
        worse_percent,
        p: test.p,
        regression: worse_percent > threshold && test.p < ALPHA,
    })
}
