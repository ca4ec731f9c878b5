//! Where everything of a timeline stands in its picture. No markup here.

use crate::{
    model::{Lane, Mark, Moment},
    text::{human, mark_word, plain},
    timeline::Scale,
};

/// Width of the picture, in the units of its view box; a unit is a pixel until somebody zooms.
pub(super) const WIDTH: f64 = 1080.0;
/// Where the axis begins; lane and who stand left of it.
pub(super) const LEFT: f64 = 176.0;
/// Where the axis ends.
pub(super) const RIGHT: f64 = WIDTH - 20.0;
/// Height of the axis above the first lane.
pub(super) const TOP: f64 = 34.0;
/// Height of a row.
pub(super) const ROW: f64 = 24.0;
/// Space between lanes.
pub(super) const GAP: f64 = 8.0;
/// Average advance of a character at the size that labels have. An estimate: labels are cut a little early rather than
/// drawn over each other.
const CHARACTER: f64 = 6.1;
/// From the end of a bar to its label.
const TO_LABEL: f64 = 11.0;
/// Between what stands in one row.
const APART: f64 = 10.0;
/// Between two times on the axis.
const TICKS_APART: f64 = 46.0;

/// A timeline, laid out.
#[derive(Debug)]
pub(super) struct Picture<'a> {
    pub(super) lanes: Vec<Band<'a>>,
    pub(super) ticks: Vec<Tick>,
    pub(super) breaks: Vec<Tick>,
    pub(super) height: f64,
}

/// A lane with its rows.
#[derive(Debug)]
pub(super) struct Band<'a> {
    pub(super) lane: Lane,
    pub(super) top: f64,
    pub(super) height: f64,
    pub(super) rows: Vec<Row<'a>>,
}

/// A row of a lane. The first row of somebody bears the name.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) who: Option<&'a str>,
    pub(super) middle: f64,
    pub(super) items: Vec<Item<'a>>,
}

/// A moment in its place.
#[derive(Debug)]
pub(super) struct Item<'a> {
    pub(super) moment: &'a Moment,
    pub(super) x: f64,
    pub(super) width: f64,
    /// None where the moment before it says the same.
    pub(super) label: Option<Label>,
}

/// The text beside a moment.
#[derive(Debug)]
pub(super) struct Label {
    pub(super) text: String,
    pub(super) side: Side,
}

/// Where a label stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// After the end of the bar.
    Right,
    /// Before its begin.
    Left,
    /// In the bar itself.
    Inside,
}

/// A time on the axis.
#[derive(Debug)]
pub(super) struct Tick {
    pub(super) x: f64,
    pub(super) text: String,
}

/// Lays out moments that are in order.
pub(super) fn lay_out<'a>(moments: &[&'a Moment], scale: &Scale) -> Picture<'a> {
    let mut lanes: Vec<Band<'a>> = Vec::new();
    let mut top = TOP;
    let mut present: Vec<Lane> = moments.iter().map(|moment| moment.lane).collect();
    present.sort_unstable();
    present.dedup();
    for lane in present {
        let rows = rows_of(lane, moments, scale, top);
        let height = ROW * count(rows.len());
        lanes.push(Band { lane, top, height, rows });
        top += height + GAP;
    }
    Picture { lanes, ticks: ticks(scale), breaks: breaks(scale), height: top }
}

/// The rows of a lane: somebody's moments stand together, in a new row where they would overlap.
fn rows_of<'a>(lane: Lane, moments: &[&'a Moment], scale: &Scale, top: f64) -> Vec<Row<'a>> {
    let mut people: Vec<&str> = Vec::new();
    for moment in moments.iter().filter(|moment| moment.lane == lane) {
        if !people.contains(&moment.who.as_str()) {
            people.push(&moment.who);
        }
    }
    let mut rows: Vec<Row<'a>> = Vec::new();
    for who in people {
        // Where each row of this one is taken up to, or from where; moments come in order, labels may reach back.
        let mut taken: Vec<Vec<(f64, f64)>> = Vec::new();
        let first = rows.len();
        let mut before: Option<(&str, Mark)> = None;
        for moment in moments.iter().filter(|moment| moment.lane == lane && moment.who == who) {
            let mut item = item(moment, scale);
            // Who polls says the same again and again; once is enough to read.
            if before.replace((&moment.what, moment.mark)) == Some((&moment.what, moment.mark)) {
                item.label = None;
            }
            let (from, to) = item.extent();
            let free = taken
                .iter()
                .position(|row| row.iter().all(|(left, right)| to + APART < *left || from > right + APART));
            let row = free.unwrap_or_else(|| {
                taken.push(Vec::new());
                let who = (taken.len() == 1).then_some(item.moment.who.as_str());
                rows.push(Row { who, middle: top + ROW * (count(rows.len()) + 0.5), items: Vec::new() });
                taken.len() - 1
            });
            taken[row].push((from, to));
            rows[first + row].items.push(item);
        }
    }
    rows
}

fn item<'a>(moment: &'a Moment, scale: &Scale) -> Item<'a> {
    let x = on_axis(scale.place(moment.at_us));
    let end = moment.until_us.map_or(x, |until| on_axis(scale.place(until)));
    let text = plain::short_ids(&plain::one_line(&moment.what)).into_owned();
    let extra = mark_word(moment.mark).map_or(0.0, |word| (count(word.len()) + 1.0) * (CHARACTER + 1.2));
    let wide = extra + count(plain::width(&text)) * CHARACTER;
    let (after, before) = (RIGHT - end - TO_LABEL, x - LEFT - TO_LABEL);
    let inside = end - x - TO_LABEL - 4.0;
    let (side, room) = if wide <= after {
        (Side::Right, after)
    } else if wide <= inside {
        (Side::Inside, inside)
    } else if wide <= before || before > after.max(inside) {
        (Side::Left, before)
    } else if inside > after {
        (Side::Inside, inside)
    } else {
        (Side::Right, after)
    };
    let text = plain::fit(&text, characters(room - extra)).into_owned();
    Item { moment, x, width: (end - x).max(0.0), label: Some(Label { text, side }) }
}

impl Item<'_> {
    /// From where to where the moment and its label reach.
    fn extent(&self) -> (f64, f64) {
        let (from, to) = (self.x - 6.0, self.x + self.width + 6.0);
        let Some(label) = &self.label else { return (from, to) };
        let word =
            mark_word(self.moment.mark).map_or(0.0, |word| (count(word.len()) + 1.0) * (CHARACTER + 1.2));
        let wide = word + count(plain::width(&label.text)) * CHARACTER + TO_LABEL;
        match label.side {
            Side::Right => (from, to + wide),
            Side::Left => (from - wide, to),
            Side::Inside => (from, to),
        }
    }
}

fn on_axis(place: f64) -> f64 {
    LEFT + place * (RIGHT - LEFT)
}

/// As many times as there is room for, the first and the last always among them.
fn ticks(scale: &Scale) -> Vec<Tick> {
    let all: Vec<(u64, f64)> = scale.ticks().map(|(us, place)| (us, on_axis(place))).collect();
    let Some(&(last, end)) = all.last() else { return Vec::new() };
    let mut ticks: Vec<Tick> = Vec::new();
    for (us, x) in all {
        let clear = ticks.last().is_none_or(|tick| x - tick.x >= TICKS_APART);
        if clear && (us == last || end - x >= TICKS_APART) {
            ticks.push(Tick { x, text: figure(us) });
        }
    }
    if ticks.len() == 1 && end > LEFT {
        ticks.push(Tick { x: end, text: figure(last) });
    }
    ticks
}

/// Milliseconds, as exact as there is room for.
fn figure(us: u64) -> String {
    let (whole, part) = (us / 1_000, us % 1_000);
    match us {
        _ if part == 0 => whole.to_string(),
        0..10_000 => format!("{whole}.{part:03}").trim_end_matches('0').to_owned(),
        10_000..1_000_000 => format!("{whole}.{}", part / 100),
        _ => whole.to_string(),
    }
}

fn breaks(scale: &Scale) -> Vec<Tick> {
    scale
        .breaks()
        .iter()
        .map(|gap| Tick { x: on_axis(gap.place), text: format!("{} in between", human::duration(gap.us)) })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of rows and characters are small")]
fn count(n: usize) -> f64 {
    n as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped first; a picture is narrow"
)]
fn characters(room: f64) -> usize {
    (room / CHARACTER).clamp(0.0, 500.0) as usize
}

#[cfg(test)]
mod tests {
    use super::{LEFT, Picture, RIGHT, WIDTH, figure, lay_out};
    use crate::{
        model::{Lane, Mark, Moment},
        timeline::Scale,
    };

    fn moment(id: u64, at_us: u64, until_us: Option<u64>, who: &str, what: &str) -> Moment {
        let mark = if id.is_multiple_of(3) { Mark::Discarded } else { Mark::Plain };
        Moment { id, at_us, until_us, lane: Lane::Client, who: who.into(), what: what.into(), mark }
    }

    fn crowd() -> Vec<Moment> {
        let long = "POST /v1/jobs with a body that says a great deal → 201 queued";
        let mut moments: Vec<Moment> = (0..40)
            .map(|id| moment(id, id * 7, id.is_multiple_of(2).then_some(id * 7 + 900), "click", long))
            .collect();
        moments.push(moment(99, 90_000, None, "read", long));
        moments
    }

    fn checked(moments: &[Moment], check: impl Fn(&Picture<'_>)) {
        let moments: Vec<&Moment> = moments.iter().collect();
        check(&lay_out(&moments, &Scale::of(&moments)));
    }

    #[test]
    fn nothing_in_a_row_covers_its_neighbour() {
        checked(&crowd(), |picture| {
            for row in picture.lanes.iter().flat_map(|band| &band.rows) {
                let mut extents: Vec<(f64, f64)> = row.items.iter().map(super::Item::extent).collect();
                extents.sort_by(|a, b| a.0.total_cmp(&b.0));
                assert!(extents.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{extents:?}");
            }
        });
    }

    #[test]
    fn nothing_leaves_the_picture() {
        checked(&crowd(), |picture| {
            for item in picture.lanes.iter().flat_map(|band| &band.rows).flat_map(|row| &row.items) {
                let (from, to) = item.extent();
                assert!(item.x >= LEFT && item.x + item.width <= RIGHT + 0.01, "{item:?}");
                assert!(from >= LEFT - 10.0 && to <= WIDTH, "{from} to {to}: {item:?}");
            }
        });
    }

    #[test]
    fn every_moment_has_its_place() {
        checked(&crowd(), |picture| {
            let items: usize =
                picture.lanes.iter().flat_map(|band| &band.rows).map(|row| row.items.len()).sum();
            assert_eq!(items, crowd().len());
        });
    }

    #[test]
    fn somebody_s_name_stands_once() {
        checked(&crowd(), |picture| {
            let names: Vec<&str> =
                picture.lanes.iter().flat_map(|band| &band.rows).filter_map(|row| row.who).collect();
            assert_eq!(names, ["click", "read"]);
        });
    }

    #[test]
    fn lanes_stand_in_their_order_whatever_came_first() {
        let mut moments = vec![moment(1, 0, None, "a", "x"), moment(2, 5, None, "a", "x")];
        moments[0].lane = Lane::Database;
        checked(&moments, |picture| {
            let lanes: Vec<Lane> = picture.lanes.iter().map(|band| band.lane).collect();
            assert_eq!(lanes, [Lane::Client, Lane::Database]);
        });
    }

    #[test]
    fn times_on_the_axis_stay_apart_and_the_last_is_there() {
        checked(&crowd(), |picture| {
            assert!(picture.ticks.windows(2).all(|pair| pair[1].x - pair[0].x >= super::TICKS_APART));
            assert_eq!(picture.ticks.last().map(|tick| tick.text.as_str()), Some("90"));
        });
    }

    #[test]
    fn figures_are_as_exact_as_their_size_allows() {
        let cases = [
            (0, "0"),
            (131, "0.131"),
            (2_400, "2.4"),
            (8_650, "8.65"),
            (13_250, "13.2"),
            (2_030_400, "2030"),
        ];
        for (us, text) in cases {
            assert_eq!(figure(us), text);
        }
    }
}
