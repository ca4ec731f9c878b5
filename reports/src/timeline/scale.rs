use crate::model::Moment;

/// How much of the axis is dealt out evenly between neighbouring times, whatever lies between them.
///
/// Requests that race arrive within microseconds and then wait for seconds. On a linear axis the race is one dot.
const EVEN: f64 = 0.6;

/// A gap counts for no more than this part of the whole.
const LONGEST: f64 = 0.3;

/// A gap that is drawn at less than this part of its true length would mislead without a word.
const HONEST: f64 = 0.75;

/// A map from time to a place on the axis that keeps the order exactly and the distances roughly.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    times: Vec<u64>,
    places: Vec<f64>,
    breaks: Vec<Break>,
}

/// A stretch of the axis that is drawn shorter than it was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Break {
    /// Middle of the stretch on the axis, from 0 to 1.
    pub place: f64,
    /// How long it really was, in microseconds.
    pub us: u64,
}

impl Scale {
    /// The scale on which the moments, with their ends, are spread out.
    #[must_use]
    pub fn of(moments: &[&Moment]) -> Self {
        let mut times: Vec<u64> =
            moments.iter().flat_map(|moment| std::iter::once(moment.at_us).chain(moment.until_us)).collect();
        times.sort_unstable();
        times.dedup();
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
            return Self { times, places: Vec::new(), breaks: Vec::new() };
        };
        let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let total = float(last - first);
        let capped: Vec<f64> = gaps.iter().map(|gap| (float(*gap) / total).min(LONGEST)).collect();
        let sum: f64 = capped.iter().sum();
        let even = EVEN / float(gaps.len() as u64);
        let mut place = 0.0;
        let mut places = vec![place];
        let mut breaks = Vec::new();
        for (gap, share) in gaps.iter().zip(&capped) {
            let wide = even + (1.0 - EVEN) * share / sum;
            if wide < float(*gap) / total * HONEST {
                breaks.push(Break { place: place + wide / 2.0, us: *gap });
            }
            place += wide;
            places.push(place);
        }
        Self { times, places, breaks }
    }

    /// The place of a time, from 0 to 1. A time between two known ones is put between their places.
    #[must_use]
    pub fn place(&self, us: u64) -> f64 {
        match self.times.binary_search(&us) {
            Ok(index) => self.places[index],
            Err(0) => 0.0,
            Err(index) if index >= self.times.len() => 1.0,
            Err(index) => {
                let (from, to) = (self.times[index - 1], self.times[index]);
                let part = float(us - from) / float(to - from);
                self.places[index - 1] + part * (self.places[index] - self.places[index - 1])
            }
        }
    }

    /// Every time that something began or ended at, with its place, in order.
    pub fn ticks(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        self.times.iter().copied().zip(self.places.iter().copied())
    }

    /// The stretches that are drawn shorter than they were.
    #[must_use]
    pub fn breaks(&self) -> &[Break] {
        &self.breaks
    }

    /// The last time of all, in microseconds; 0 where nothing happened.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.times.last().copied().unwrap_or(0)
    }
}

/// Microseconds fit a double exactly for the next 285 years.
#[expect(clippy::cast_precision_loss, reason = "only places on an axis are computed from it")]
fn float(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::Scale;
    use crate::model::{Lane, Mark, Moment};

    fn moment(at_us: u64, until_us: Option<u64>) -> Moment {
        Moment {
            id: at_us,
            at_us,
            until_us,
            lane: Lane::Client,
            who: String::new(),
            what: String::new(),
            mark: Mark::Plain,
        }
    }

    fn places(times: &[(u64, Option<u64>)]) -> (Scale, Vec<f64>) {
        let moments: Vec<Moment> = times.iter().map(|(at, until)| moment(*at, *until)).collect();
        let scale = Scale::of(&moments.iter().collect::<Vec<_>>());
        let places = scale.ticks().map(|(_, place)| place).collect();
        (scale, places)
    }

    #[test]
    fn later_is_always_further_right() {
        let (_, places) = places(&[(0, Some(1)), (2, None), (3, Some(9_000_000)), (9_000_001, None)]);
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
        assert!((places[0]).abs() < 1e-9 && (places[places.len() - 1] - 1.0).abs() < 1e-9, "{places:?}");
    }

    #[test]
    fn microseconds_of_a_race_stay_apart_beside_seconds_of_waiting() {
        let (scale, places) = places(&[(0, None), (20, None), (40, None), (5_000_000, None)]);
        assert!(places[1] > 0.1, "{places:?}");
        assert_eq!(scale.breaks().iter().map(|gap| gap.us).collect::<Vec<_>>(), [4_999_960]);
    }

    #[test]
    fn a_gap_that_is_drawn_much_too_short_is_a_break_with_its_real_length() {
        let mut times: Vec<(u64, Option<u64>)> = (0..10).map(|i| (i * 20, None)).collect();
        times.push((5_000_180, None));
        let (scale, _) = places(&times);
        assert_eq!(scale.breaks().iter().map(|gap| gap.us).collect::<Vec<_>>(), [5_000_000]);
    }

    #[test]
    fn even_distances_stay_even() {
        let (scale, places) = places(&[(0, None), (10, None), (20, None), (30, None), (40, None)]);
        for pair in places.windows(2) {
            assert!((pair[1] - pair[0] - 0.25).abs() < 1e-9, "{places:?}");
        }
        assert!((scale.place(25) - 0.625).abs() < 1e-9);
        assert!(scale.breaks().is_empty());
    }

    #[test]
    fn no_moment_and_one_moment_have_a_scale_too() {
        let (scale, _) = places(&[]);
        assert!((scale.place(7)).abs() < 1e-9 && scale.end() == 0);
        let (scale, places) = places(&[(5, None)]);
        assert_eq!(places, [0.0]);
        assert_eq!(scale.end(), 5);
    }
}
