use std::fmt;

use super::{Picked, Scale, evidence, pick_folded};
use crate::{
    model::{Cell, Mark, Moment},
    text::{human, lane_word, mark_symbol, mark_word, plain},
};

/// A timeline as lines of text that fit a width. Whatever a colour could say is said by a word too.
#[derive(Debug, Clone, PartialEq)]
pub struct TextTimeline {
    /// Names of the columns.
    pub heading: String,
    /// One line a moment, in order.
    pub lines: Vec<TextLine>,
    /// What the reader has to know about the axis; none where it is true to scale.
    pub note: Option<String>,
}

/// One line, in the pieces that a terminal may colour apart.
#[derive(Debug, Clone, PartialEq)]
pub struct TextLine {
    /// Whether the moment shows the broken promise.
    pub evidence: bool,
    /// Pointer of evidence, time, lane and who, padded.
    pub head: String,
    /// The bar on the axis, padded; empty where there is no room for one.
    pub bar: String,
    /// The word of the mark, padded; empty where no moment of the timeline has one.
    pub word: String,
    /// What happened.
    pub what: String,
    /// The mark itself.
    pub mark: Mark,
}

impl fmt::Display for TextLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = format!("{}{}{}{}", self.head, self.bar, self.word, self.what);
        f.write_str(line.trim_end())
    }
}

impl fmt::Display for TextTimeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.heading)?;
        for line in &self.lines {
            writeln!(f, "{line}")?;
        }
        self.note.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}

/// The whole timeline as text without colours, 110 columns wide; empty where the cell has none.
#[must_use]
pub fn plain_text(cell: &Cell) -> String {
    TextTimeline::lay_out(cell, 110, usize::MAX).map(|timeline| timeline.to_string()).unwrap_or_default()
}

/// Widths of the columns, gaps of two included.
struct Columns {
    time: usize,
    lane: usize,
    who: usize,
    bar: usize,
    word: usize,
    what: usize,
}

impl TextTimeline {
    /// Lays out the moments that tell most, at most `most` of them, in `width` columns; none where the cell has no
    /// timeline.
    #[must_use]
    pub fn lay_out(cell: &Cell, width: usize, most: usize) -> Option<Self> {
        if cell.timeline.is_empty() {
            return None;
        }
        let picked = pick_folded(cell, most);
        let evidence = evidence(cell);
        let moments: Vec<&Moment> = picked
            .iter()
            .filter_map(|picked| match picked {
                Picked::Moment(moment, _) => Some(*moment),
                Picked::Omitted(_) => None,
            })
            .collect();
        let scale = Scale::of(&moments);
        let columns = Columns::for_moments(&moments, width);
        let left_out = usize::try_from(cell.moments_left_out).unwrap_or(usize::MAX);
        let lines = picked
            .iter()
            .map(|picked| match picked {
                Picked::Moment(moment, times) => {
                    columns.line(moment, *times, &scale, evidence.contains(&moment.id))
                }
                Picked::Omitted(n) => columns.omission(*n),
            })
            .chain((left_out > 0).then(|| columns.omission(left_out)))
            .collect();
        let note = (columns.bar > 0 && !scale.breaks().is_empty()).then(|| {
            let gaps: Vec<String> = scale.breaks().iter().map(|gap| human::duration(gap.us)).collect();
            let note = format!("  in order but not to scale: drawn shorter are {}", gaps.join(", "));
            plain::fit(&note, width).into_owned()
        });
        Some(Self { heading: columns.heading(scale.end()), lines, note })
    }
}

impl Columns {
    fn for_moments(moments: &[&Moment], width: usize) -> Self {
        let widest =
            |of: &dyn Fn(&Moment) -> usize| moments.iter().map(|moment| of(moment)).max().unwrap_or(0);
        let time = widest(&|moment| human::millis(moment.at_us).len()).max(2) + 2;
        // Who says more than the lane; without room for both, the lane goes.
        let lane = if width < 72 { 0 } else { widest(&|moment| lane_word(moment.lane).len()).max(4) + 2 };
        let who = widest(&|moment| plain::width(&plain::one_line(&moment.who)));
        let who = who.clamp(3, if width < 72 { 11 } else { 16 }) + 2;
        let word = match widest(&|moment| mark_word(moment.mark).map_or(0, str::len)) {
            0 => 0,
            longest => longest + 2,
        };
        let bar = match width {
            132.. => 34,
            112..132 => 26,
            90..112 => 18,
            _ => 0,
        };
        let used = 2 + time + lane + who + bar + word;
        Self { time, lane, who, bar, word, what: width.saturating_sub(used).max(4) }
    }

    fn heading(&self, end: u64) -> String {
        let mut line = format!("  {:>time$}  {}", "ms", plain::pad("lane", self.lane), time = self.time - 2);
        line.push_str(&plain::pad("who", self.who));
        if self.bar > 0 {
            let end = human::duration(end);
            let dashes = self.bar.saturating_sub(plain::width(&end) + 6);
            line.push_str(&plain::pad(&format!("0 {} {end}", "─".repeat(dashes)), self.bar));
        }
        line.push_str(&" ".repeat(self.word));
        line.push_str("what");
        line
    }

    fn line(&self, moment: &Moment, times: usize, scale: &Scale, evidence: bool) -> TextLine {
        let head = format!(
            "{} {:>time$}  {}{}",
            if evidence { '>' } else { ' ' },
            human::millis(moment.at_us),
            plain::pad(lane_word(moment.lane), self.lane),
            plain::pad(&plain::fit(&plain::one_line(&moment.who), self.who - 2), self.who),
            time = self.time - 2
        );
        let what = plain::one_line(&moment.what);
        let what = plain::short_ids(&what);
        let took = match (moment.until_us, times) {
            (_, 2..) => format!(" ({times} times)"),
            (Some(until), _) => format!(" ({})", human::duration(until.saturating_sub(moment.at_us))),
            (None, _) => String::new(),
        };
        // How long it took is worth its place only where what happened has its own.
        let fits = times > 1 || plain::width(&what) + plain::width(&took) <= self.what;
        let took = if fits { took } else { String::new() };
        let room = self.what.saturating_sub(plain::width(&took));
        let what = format!("{}{took}", plain::fit(&what, room));
        TextLine {
            evidence,
            head,
            bar: self.bar(moment, scale),
            word: plain::pad(mark_word(moment.mark).unwrap_or(""), self.word),
            what,
            mark: moment.mark,
        }
    }

    /// A bar from the begin to the end of the moment; the mark stands where the moment ends, where it was decided.
    fn bar(&self, moment: &Moment, scale: &Scale) -> String {
        if self.bar < 4 {
            return String::new();
        }
        let cells = self.bar - 2;
        let from = column(scale.place(moment.at_us), cells);
        let to = moment.until_us.map_or(from, |until| column(scale.place(until), cells).max(from));
        let mut bar: Vec<char> = vec![' '; cells];
        bar[from..=to].fill('─');
        if to > from {
            bar[from] = '├';
            bar[to] = '┤';
        }
        if moment.mark != Mark::Plain || to == from {
            bar[to] = mark_symbol(moment.mark);
        }
        let mut text: String = bar.into_iter().collect();
        text.push_str("  ");
        text
    }

    fn omission(&self, n: usize) -> TextLine {
        TextLine {
            evidence: false,
            head: format!("  {:>time$}  ", "⋮", time = self.time - 2),
            bar: String::new(),
            word: String::new(),
            what: format!("{} not shown", human::count(n, "moment")),
            mark: Mark::Plain,
        }
    }
}

/// The place on an axis of `cells` columns.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a place is between 0 and 1 and a terminal has few columns"
)]
fn column(place: f64, cells: usize) -> usize {
    let last = cells.saturating_sub(1);
    ((place * last as f64).round() as usize).min(last)
}
