//! From values to places on an axis, and which values to write beside it.

use super::Axis;

/// The stretch of values that an axis shows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stretch {
    logarithmic: bool,
    from: f64,
    to: f64,
    ticks: Vec<f64>,
}

impl Stretch {
    /// Shows all the values, rounded outwards to what can be written beside the axis. A linear axis begins at zero unless
    /// values are below it: a bar of differences that begins elsewhere exaggerates.
    pub(super) fn of(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let (least, most) = values
            .filter(|value| axis.takes(*value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
                (least.min(value), most.max(value))
            });
        let (least, most) = if least > most { (1.0, 10.0) } else { (least, most) };
        let ticks = if axis.logarithmic { logarithmic(least, most) } else { linear(least.min(0.0), most) };
        let (from, to) = (ticks[0], ticks[ticks.len() - 1]);
        Self { logarithmic: axis.logarithmic, from, to, ticks }
    }

    /// The place of a value, 0 at the beginning of the axis and 1 at its end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = if self.logarithmic {
            (value.ln() - self.from.ln()) / (self.to.ln() - self.from.ln())
        } else {
            (value - self.from) / (self.to - self.from)
        };
        place.clamp(0.0, 1.0)
    }

    /// The values to write beside the axis, in order.
    pub(super) fn ticks(&self) -> &[f64] {
        &self.ticks
    }
}

/// Multiples of 1, 2 or 5 times a power of ten, about five of them.
fn linear(from: f64, to: f64) -> Vec<f64> {
    let wide = if to > from { to - from } else { 1.0 };
    let rough = wide / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|nice| nice * power).find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let mut ticks = vec![(from / step).floor() * step];
    while ticks[ticks.len() - 1] < to - step * 1e-9 || ticks.len() < 2 {
        let next = ticks[ticks.len() - 1] + step;
        ticks.push(next);
    }
    ticks
}

/// Powers of ten, or of two where everything lies within a hundredfold.
fn logarithmic(from: f64, to: f64) -> Vec<f64> {
    let base: f64 = if to / from <= 100.0 { 2.0 } else { 10.0 };
    let (first, last) = (from.log(base).floor(), to.log(base).ceil());
    let mut ticks = vec![base.powf(first)];
    let mut power = first;
    while power < last || ticks.len() < 2 {
        power += 1.0;
        ticks.push(base.powf(power));
    }
    ticks
}

/// A value as short as it can be read: `12`, `0.25`, `4.1 k`, `10 M`.
pub(crate) fn figure(value: f64) -> String {
    let size = value.abs();
    let (scaled, unit) = match size {
        _ if size >= 1e9 => (value / 1e9, " G"),
        _ if size >= 1e6 => (value / 1e6, " M"),
        _ if size >= 1e4 => (value / 1e3, " k"),
        _ => (value, ""),
    };
    let decimals = match scaled.abs() {
        0.0 => 0,
        big if big >= 100.0 => 0,
        middle if middle >= 10.0 => 1,
        small if small >= 1.0 => 2,
        small if small >= 0.001 => 4,
        _ => return format!("{value:e}"),
    };
    let text = format!("{scaled:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

#[cfg(test)]
mod tests {
    use super::{Stretch, figure};
    use crate::sheet::Axis;

    fn ticks(axis: &Axis, values: &[f64]) -> Vec<String> {
        Stretch::of(axis, values.iter().copied()).ticks().iter().map(|tick| figure(*tick)).collect()
    }

    #[test]
    fn a_linear_axis_begins_at_zero_and_has_round_figures() {
        assert_eq!(
            ticks(&Axis::linear(""), &[310.0, 4_090.0]),
            ["0", "1000", "2000", "3000", "4000", "5000"]
        );
        assert_eq!(ticks(&Axis::linear(""), &[0.2, 0.9]), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(ticks(&Axis::linear(""), &[-3.0, 4.0]), ["-4", "-2", "0", "2", "4"]);
    }

    #[test]
    fn a_logarithmic_axis_doubles_or_goes_up_by_ten() {
        assert_eq!(ticks(&Axis::logarithmic(""), &[1.0, 64.0]), ["1", "2", "4", "8", "16", "32", "64"]);
        assert_eq!(
            ticks(&Axis::logarithmic(""), &[3.0, 20_000.0]),
            ["1", "10", "100", "1000", "10 k", "100 k"]
        );
    }

    #[test]
    fn one_value_no_value_and_values_that_are_none_have_an_axis_too() {
        for axis in [Axis::linear(""), Axis::logarithmic("")] {
            for values in [&[][..], &[5.0], &[0.0], &[f64::NAN, f64::INFINITY], &[-1.0]] {
                let stretch = Stretch::of(&axis, values.iter().copied());
                assert!(stretch.ticks().len() >= 2, "{values:?}");
                assert!(stretch.place(5.0).is_finite(), "{values:?}");
            }
        }
    }

    #[test]
    fn more_is_further_along() {
        let stretch = Stretch::of(&Axis::logarithmic(""), [1.0, 1000.0].into_iter());
        assert!((stretch.place(1.0)).abs() < 1e-9 && (stretch.place(1000.0) - 1.0).abs() < 1e-9);
        assert!(stretch.place(10.0) < stretch.place(20.0));
    }

    #[test]
    fn figures_are_short() {
        for (value, text) in
            [(0.0, "0"), (0.25, "0.25"), (4_100.0, "4100"), (12_345.0, "12.3 k"), (1e7, "10 M")]
        {
            assert_eq!(figure(value), text);
        }
    }
}
