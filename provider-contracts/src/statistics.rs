//! Bounds on a proportion.
//!
//! A gate on `k/N` promises nothing: ten passes out of ten are compatible with a provider that fails every fourth
//! time. The gate here is on the lower end of the Wilson score interval (E. B. Wilson, 1927) at 95 %.

/// The 97.5 % quantile of the normal distribution: both tails together leave 5 %.
const Z: f64 = 1.959_963_984_540_054;

/// The lower end of the two-sided 95 % Wilson score interval for `passed` of `total`, in 0..=1; 0 for no samples.
#[must_use]
pub fn lower_bound(passed: u32, total: u32) -> f64 {
    interval(passed, total).0
}

/// The upper end of the same interval; 1 for no samples.
#[must_use]
pub fn upper_bound(passed: u32, total: u32) -> f64 {
    interval(passed, total).1
}

fn interval(passed: u32, total: u32) -> (f64, f64) {
    if total == 0 {
        return (0.0, 1.0);
    }
    let n = f64::from(total);
    let p = f64::from(passed.min(total)) / n;
    let z2 = Z * Z;
    let denominator = 1.0 + z2 / n;
    let centre = p + z2 / (2.0 * n);
    let spread = Z * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    (((centre - spread) / denominator).clamp(0.0, 1.0), ((centre + spread) / denominator).clamp(0.0, 1.0))
}

/// How many samples it takes, all of them passing, to reach `bar`. `None` when no number does.
#[must_use]
pub fn samples_needed(bar: f64) -> Option<u32> {
    if bar <= 0.0 {
        return Some(1);
    }
    if bar >= 1.0 {
        return None;
    }
    // With everything passing the bound is n / (n + z²), so n = bar · z² / (1 − bar), up to rounding.
    let guess = (bar * Z * Z / (1.0 - bar)).ceil();
    let mut n = whole(guess)?.saturating_sub(2).max(1);
    while lower_bound(n, n) < bar {
        n = n.checked_add(1)?;
    }
    Some(n)
}

/// How many of `total` samples may fail before the bound drops below `bar`; `None` if even none may.
#[must_use]
pub fn failures_allowed(total: u32, bar: f64) -> Option<u32> {
    if lower_bound(total, total) < bar {
        return None;
    }
    let (mut low, mut high) = (0, total);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if lower_bound(total - middle, total) >= bar {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Some(low)
}

/// The chance that `total` samples show none of a defect that hits at `rate`, in 0..=1.
#[must_use]
pub fn chance_of_missing(rate: f64, total: u32) -> f64 {
    (1.0 - rate.clamp(0.0, 1.0)).powf(f64::from(total))
}

fn whole(value: f64) -> Option<u32> {
    if !(0.0..=f64::from(u32::MAX)).contains(&value) {
        return None;
    }
    format!("{value:.0}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(passed: u32, total: u32) -> String {
        format!("{:.1}", 100.0 * lower_bound(passed, total))
    }

    #[test]
    fn all_passing_reaches_the_figures_of_the_literature() {
        let figures = [(10, "72.2"), (20, "83.9"), (35, "90.1"), (73, "95.0"), (381, "99.0")];
        for (n, expected) in figures {
            assert_eq!(percent(n, n), expected, "at N={n}");
        }
    }

    #[test]
    fn the_needed_count_is_the_smallest_that_reaches_the_bar() {
        for (bar, needed) in [(0.9, 35), (0.95, 73), (0.99, 381), (0.722, 10)] {
            assert_eq!(samples_needed(bar), Some(needed), "for a bar of {bar}");
            assert!(lower_bound(needed - 1, needed - 1) < bar);
        }
    }

    #[test]
    fn no_count_reaches_certainty() {
        assert_eq!(samples_needed(1.0), None);
        assert_eq!(samples_needed(0.0), Some(1));
    }

    #[test]
    fn a_defect_of_four_percent_is_missed_by_twenty_samples_44_percent_of_the_time() {
        assert_eq!(format!("{:.0}", 100.0 * chance_of_missing(0.04, 20)), "44");
    }

    #[test]
    fn allowed_failures_are_exactly_those_that_keep_the_bound() {
        for total in [35, 73, 100, 381] {
            let allowed = failures_allowed(total, 0.9).unwrap();
            assert!(lower_bound(total - allowed, total) >= 0.9);
            assert!(lower_bound(total - allowed - 1, total) < 0.9);
        }
        assert_eq!(failures_allowed(10, 0.9), None);
    }

    #[test]
    fn the_interval_holds_the_observed_rate_and_is_ordered() {
        for total in 1..60 {
            for passed in 0..=total {
                let rate = f64::from(passed) / f64::from(total);
                assert!(lower_bound(passed, total) <= rate + 1e-12);
                assert!(upper_bound(passed, total) >= rate - 1e-12);
            }
        }
    }

    #[test]
    fn no_samples_prove_nothing() {
        assert!(lower_bound(0, 0) <= 0.0 && upper_bound(0, 0) >= 1.0);
    }
}
