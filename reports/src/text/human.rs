//! Figures as people read them.

/// A length of time, given in microseconds, with three figures at most: `840 µs`, `4.2 ms`, `1.24 s`, `2 min 05 s`.
#[must_use]
pub fn duration(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..10_000 => tenths(us / 100, "ms"),
        10_000..1_000_000 => format!("{} ms", us / 1_000),
        1_000_000..10_000_000 => format!("{}.{:02} s", us / 1_000_000, us % 1_000_000 / 10_000),
        10_000_000..60_000_000 => tenths(us / 100_000, "s"),
        60_000_000..3_600_000_000 => {
            let seconds = us / 1_000_000;
            format!("{} min {:02} s", seconds / 60, seconds % 60)
        }
        _ => {
            let minutes = us / 60_000_000;
            format!("{} h {:02} min", minutes / 60, minutes % 60)
        }
    }
}

fn tenths(value: u64, unit: &str) -> String {
    format!("{}.{} {unit}", value / 10, value % 10)
}

/// Milliseconds with the microseconds kept, for a column of times: `12.345`.
#[must_use]
pub fn millis(us: u64) -> String {
    format!("{}.{:03}", us / 1_000, us % 1_000)
}

/// Seconds with the microseconds kept, as `JUnit` and TAP want them: `0.041000`.
#[must_use]
pub fn seconds(us: u64) -> String {
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
}

/// `1 cell`, `3 cells`. For nouns with a regular plural.
#[must_use]
pub fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::{count, duration, millis, seconds};

    #[test]
    fn a_duration_has_at_most_three_figures_and_a_unit() {
        let cases = [
            (0, "0 µs"),
            (999, "999 µs"),
            (1_000, "1.0 ms"),
            (4_249, "4.2 ms"),
            (9_999, "9.9 ms"),
            (41_600, "41 ms"),
            (999_999, "999 ms"),
            (1_240_000, "1.24 s"),
            (12_340_000, "12.3 s"),
            (125_000_000, "2 min 05 s"),
            (3_660_000_000, "1 h 01 min"),
        ];
        for (us, text) in cases {
            assert_eq!(duration(us), text, "{us} µs");
        }
    }

    #[test]
    fn columns_of_times_keep_the_microseconds() {
        assert_eq!(millis(12_345), "12.345");
        assert_eq!(seconds(41_000), "0.041000");
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(count(1, "cell"), "1 cell");
        assert_eq!(count(0, "cell"), "0 cells");
    }
}
