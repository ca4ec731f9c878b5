//! Medians with bounds, and whether a difference is more than chance: both without a guess about how figures are distributed.

use onejob_reports::bench::Estimate;

/// The confidence that bounds should have, where the number of repeats allows it.
const CONFIDENCE: f64 = 0.95;

/// The median, and the closest order statistics that bound it with the wanted confidence; the extremes, and the confidence that
/// they have, where there are too few values.
#[must_use]
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let median = median_of_sorted(&sorted)?;
    // Outside of the k-th value from either end lies the median with twice the chance of fewer than k heads in n throws.
    let covered = |k: usize| 1.0 - 2.0 * fewer_heads(count, k);
    let k = (1..=count.div_ceil(2)).rev().find(|k| covered(*k) >= CONFIDENCE).unwrap_or(1);
    Some(Estimate { median, low: sorted[k - 1], high: sorted[count - k], confidence: covered(k).max(0.0) })
}

/// The median of some values.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        even if even % 2 == 0 => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
        _ => Some(sorted[middle]),
    }
}

/// The chance of fewer than `k` heads in `n` throws.
fn fewer_heads(n: usize, k: usize) -> f64 {
    let mut ways = 1.0;
    let mut sum = 0.0;
    for heads in 0..k {
        sum += ways;
        #[expect(clippy::cast_precision_loss, reason = "repeats are few")]
        {
            ways = ways * (n - heads) as f64 / (heads + 1) as f64;
        }
    }
    sum / 2_f64.powi(i32::try_from(n).unwrap_or(i32::MAX))
}

/// What a permutation test says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PermutationTest {
    /// How likely it is that chance alone makes the second group this much smaller than the first, or more.
    pub p: f64,
    /// The least that `p` could be with so few values.
    pub least: f64,
}

/// The most ways of dealing the values that are all tried; beyond, the values are thinned out by the caller.
const MOST: usize = 20;

/// Deals all values to two groups of these sizes in every possible way, and counts how often the second group's mean is as far
/// below the first one's as it was found to be. Values are compared as logarithms: they are ratios.
///
/// Exact up to twenty values in all; of more, the last ones are used.
#[must_use]
pub fn permutation(before: &[f64], now: &[f64]) -> Option<PermutationTest> {
    let logs = |values: &[f64]| -> Vec<f64> {
        let good: Vec<f64> =
            values.iter().filter(|it| it.is_finite() && **it > 0.0).map(|it| it.ln()).collect();
        good[good.len().saturating_sub(MOST / 2)..].to_vec()
    };
    let (before, now) = (logs(before), logs(now));
    if before.is_empty() || now.is_empty() {
        return None;
    }
    let all: Vec<f64> = before.iter().chain(&now).copied().collect();
    let found: f64 = now.iter().sum();
    let (mut ways, mut as_low) = (0_u32, 0_u32);
    for dealt in 0_u32..1 << all.len() {
        if dealt.count_ones() as usize != now.len() {
            continue;
        }
        ways += 1;
        // With all values given, a lower sum of the second group is a greater difference of the means.
        let sum: f64 = all.iter().enumerate().filter(|(at, _)| dealt >> at & 1 == 1).map(|(_, it)| it).sum();
        as_low += u32::from(sum <= found + 1e-12);
    }
    Some(PermutationTest { p: f64::from(as_low) / f64::from(ways), least: 1.0 / f64::from(ways) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_as_close_as_the_number_of_values_allows() {
        let five = estimate(&[3.0, 1.0, 2.0, 5.0, 4.0]).expect("five values");
        assert_eq!((five.median, five.low, five.high), (3.0, 1.0, 5.0));
        assert!((five.confidence - 0.9375).abs() < 1e-9, "{}", five.confidence);
        let eleven: Vec<f64> = (1..=11).map(f64::from).collect();
        let eleven = estimate(&eleven).expect("eleven values");
        assert_eq!((eleven.median, eleven.low, eleven.high), (6.0, 2.0, 10.0));
        assert!((eleven.confidence - 0.988_281_25).abs() < 1e-9, "{}", eleven.confidence);
        let one = estimate(&[7.0]).expect("one value");
        assert_eq!((one.low, one.high, one.confidence), (7.0, 7.0, 0.0));
        assert!(estimate(&[]).is_none() && estimate(&[f64::NAN]).is_none());
    }

    #[test]
    fn an_even_number_of_values_has_its_median_between_two() {
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn groups_that_do_not_mix_are_as_unlikely_as_can_be() {
        let test =
            permutation(&[1.0, 1.1, 0.9, 1.05, 0.95], &[0.5, 0.55, 0.45, 0.52, 0.48]).expect("ten values");
        assert!((test.p - 1.0 / 252.0).abs() < 1e-12 && (test.p - test.least).abs() < 1e-12, "{test:?}");
    }

    #[test]
    fn the_same_group_twice_and_a_better_one_are_no_evidence() {
        let group = [1.0, 1.1, 0.9, 1.05, 0.95];
        assert!(permutation(&group, &group).expect("ten values").p > 0.4);
        let better = group.map(|it| it * 2.0);
        assert!((permutation(&group, &better).expect("ten values").p - 1.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_values_can_not_be_significant() {
        assert!(permutation(&[1.0, 1.0], &[0.1, 0.1]).expect("four values").least > 0.05);
    }
}
