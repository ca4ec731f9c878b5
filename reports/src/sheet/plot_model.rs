/// Lines over a common axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plot {
    /// What it shows, as a sentence: what a reader should see.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Axis {
    /// What it measures, with its unit: `contenders`, `decisions a second`, `latency in ms`.
    pub label: String,
    /// Whether each step is a multiple of the last. What isn't above zero is left out then.
    pub logarithmic: bool,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points, by `x`. Points that aren't finite are left out.
    pub points: Vec<Point>,
}

/// A measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where it was measured.
    pub x: f64,
    /// What was measured.
    pub y: f64,
    /// From where to where it may have been, where that is known.
    pub range: Option<(f64, f64)>,
}

impl Plot {
    /// A plot without lines.
    pub fn new(caption: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { caption: caption.into(), x, y, series: Vec::new() }
    }

    /// Adds a line.
    #[must_use]
    pub fn line(mut self, name: impl Into<String>, points: impl IntoIterator<Item = Point>) -> Self {
        self.series.push(Series { name: name.into(), points: points.into_iter().collect() });
        self
    }
}

impl Axis {
    /// An axis with equal steps.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), logarithmic: false }
    }

    /// An axis on which each step is a multiple of the last.
    pub fn logarithmic(label: impl Into<String>) -> Self {
        Self { label: label.into(), logarithmic: true }
    }
}

impl From<(f64, f64)> for Point {
    fn from((x, y): (f64, f64)) -> Self {
        Self { x, y, range: None }
    }
}

impl Plot {
    /// The points of a line that can be drawn on these axes.
    pub(super) fn drawable<'a>(&'a self, series: &'a Series) -> impl Iterator<Item = &'a Point> + 'a {
        series.points.iter().filter(|point| self.x.takes(point.x) && self.y.takes(point.y))
    }
}

impl Axis {
    pub(super) fn takes(&self, value: f64) -> bool {
        value.is_finite() && (!self.logarithmic || value > 0.0)
    }
}
