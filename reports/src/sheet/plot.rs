//! A plot as SVG.

use std::fmt::Write as _;

use super::{
    Plot, Point, Series,
    axis::{Stretch, figure},
};
use crate::{html::escaped, text::plain};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 720.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 286.0;
/// Between the names of two lines.
const NAMES_APART: f64 = 15.0;
/// As many lines have a look of their own; more can't be told apart in a plot anyway.
const LOOKS: usize = 7;

/// The plot as an `svg` element. Lines differ in dash and marker, and bear their names at their ends.
pub(super) fn draw(plot: &Plot, id: &str) -> String {
    let points = || plot.series.iter().flat_map(|series| plot.drawable(series));
    let x = Stretch::of(&plot.x, points().map(|point| point.x));
    let reach =
        |point: &Point| [Some(point.y), point.range.map(|range| range.0), point.range.map(|range| range.1)];
    let y = Stretch::of(&plot.y, points().flat_map(reach).flatten());
    let mut svg = String::with_capacity(2048);
    // A String takes whatever is written to it, so the results of `write!` are dropped.
    _ = write!(
        svg,
        "<svg class=\"plot\" role=\"img\" aria-labelledby=\"{id}-t\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\"><title id=\"{id}-t\">{}. The figures stand in the table below.</title>",
        shown(&plot.caption)
    );
    grid(plot, &x, &y, &mut svg);
    for (index, series) in plot.series.iter().enumerate() {
        line(plot, series, index, &x, &y, &mut svg);
    }
    names(plot, &x, &y, &mut svg);
    svg.push_str("</svg>");
    svg
}

fn shown(text: &str) -> String {
    escaped(&plain::one_line(text))
}

fn across(place: f64) -> f64 {
    LEFT + place * (RIGHT - LEFT)
}

fn up(place: f64) -> f64 {
    BOTTOM - place * (BOTTOM - TOP)
}

fn grid(plot: &Plot, x: &Stretch, y: &Stretch, svg: &mut String) {
    svg.push_str("<g class=\"grid\">");
    for tick in y.ticks() {
        let place = up(y.place(*tick));
        _ = write!(
            svg,
            "<path d=\"M{LEFT} {place:.1}H{RIGHT}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            place + 4.0,
            figure(*tick)
        );
    }
    for tick in x.ticks() {
        let place = across(x.place(*tick));
        _ = write!(
            svg,
            "<path d=\"M{place:.1} {BOTTOM}v5\"/><text x=\"{place:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            BOTTOM + 19.0,
            figure(*tick)
        );
    }
    _ = write!(
        svg,
        "<text class=\"name\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text><text class=\"name\" transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text></g>",
        f64::midpoint(LEFT, RIGHT),
        BOTTOM + 42.0,
        shown(&plot.x.label),
        f64::midpoint(TOP, BOTTOM),
        shown(&plot.y.label)
    );
}

fn line(plot: &Plot, series: &Series, index: usize, x: &Stretch, y: &Stretch, svg: &mut String) {
    let look = index % LOOKS;
    _ = write!(svg, "<g class=\"s{look}\">");
    let mut path = String::new();
    for point in plot.drawable(series) {
        let (px, py) = (across(x.place(point.x)), up(y.place(point.y)));
        _ = write!(path, "{}{px:.1} {py:.1}", if path.is_empty() { 'M' } else { 'L' });
        if let Some((low, high)) = point.range.filter(|(low, high)| plot.y.takes(*low) && plot.y.takes(*high))
        {
            let (low, high) = (up(y.place(low)), up(y.place(high)));
            _ = write!(
                svg,
                "<path class=\"range\" d=\"M{px:.1} {low:.1}V{high:.1}m-4 0h8M{:.1} {low:.1}h8\"/>",
                px - 4.0
            );
        }
    }
    _ = write!(svg, "<path class=\"line\" d=\"{path}\"/>");
    for point in plot.drawable(series) {
        let (px, py) = (across(x.place(point.x)), up(y.place(point.y)));
        _ = write!(
            svg,
            "<use href=\"#p-{look}\" x=\"{:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\"><title>{}: {} at {}</title></use>",
            px - 5.0,
            py - 5.0,
            shown(&series.name),
            figure(point.y),
            figure(point.x)
        );
    }
    svg.push_str("</g>");
}

/// The name of each line beside its last point, moved apart where they would cover each other.
fn names(plot: &Plot, x: &Stretch, y: &Stretch, svg: &mut String) {
    let mut names: Vec<(f64, f64, usize, &str)> = plot
        .series
        .iter()
        .enumerate()
        .filter_map(|(index, series)| {
            let last = plot.drawable(series).last()?;
            Some((up(y.place(last.y)), across(x.place(last.x)), index, series.name.as_str()))
        })
        .collect();
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free = TOP;
    for (place, end, index, name) in names {
        let at = place.max(free);
        free = at + NAMES_APART;
        _ = write!(
            svg,
            "<g class=\"s{look}\"><path class=\"to\" d=\"M{:.1} {place:.1}L{} {at:.1}\"/><use href=\"#p-{look}\" x=\"{}\" y=\"{:.1}\" width=\"10\" height=\"10\"/><text x=\"{}\" y=\"{:.1}\">{}</text></g>",
            end + 6.0,
            RIGHT + 14.0,
            RIGHT + 16.0,
            at - 5.0,
            RIGHT + 31.0,
            at + 4.0,
            shown(&plain::fit(name, 24)),
            look = index % LOOKS
        );
    }
}
