use std::{
    fmt::Write as _,
    io::{self, Write},
};

use super::{Block, Compare, Entry, Grid, Plot, Sheet, Table, Tone, axis::figure};
use crate::markdown::escape::{block as fenced, text};

/// Writes the sheet in GitHub's Markdown. Plots become tables of their figures.
pub fn markdown(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    // A String takes whatever is written to it, so the results of `write!` are dropped.
    let mut page = format!(
        "## {}: {} {}\n\n{}\n",
        text(&sheet.title),
        symbol(sheet.tone),
        text(&sheet.word),
        text(&sheet.summary)
    );
    if !sheet.facts.is_empty() {
        let facts: Vec<String> =
            sheet.facts.iter().map(|fact| format!("{} {}", text(&fact.name), text(&fact.value))).collect();
        _ = write!(page, "\n<sub>{}</sub>\n", facts.join(" · "));
    }
    for section in &sheet.sections {
        _ = write!(page, "\n### {}\n", text(&section.heading));
        section.blocks.iter().for_each(|one| block(one, &mut page));
    }
    out.write_all(page.as_bytes())
}

fn symbol(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "✅",
        Tone::Bad => "❌",
        Tone::Doubt => "❔",
        Tone::Plain => "",
    }
}

fn block(block: &Block, page: &mut String) {
    match block {
        Block::Prose(words) => _ = write!(page, "\n{}\n", text(words)),
        Block::Warning(words) => _ = write!(page, "\n> [!WARNING]\n> {}\n", text(words)),
        Block::Command(words) => _ = write!(page, "\n{}\n", fenced("sh", words)),
        Block::Table(table) => self::table(table, page),
        Block::Grid(grid) => self::grid(grid, page),
        Block::Plot(plot) => self::plot(plot, page),
        Block::Compare(compare) => self::compare(compare, page),
        Block::Fold { summary, blocks } => {
            _ = write!(page, "\n<details><summary>{}</summary>\n", text(summary));
            for inner in blocks {
                self::block(inner, page);
            }
            page.push_str("\n</details>\n");
        }
    }
}

fn table(table: &Table, page: &mut String) {
    if !table.caption.is_empty() {
        _ = write!(page, "\n{}\n", text(&table.caption));
    }
    let head: Vec<String> = table.head.iter().map(|name| text(name)).collect();
    _ = write!(page, "\n| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in &table.rows {
        let row: Vec<String> = row.iter().map(entry).collect();
        _ = writeln!(page, "| {} |", row.join(" | "));
    }
}

fn entry(entry: &Entry) -> String {
    let symbol = symbol(entry.tone);
    if symbol.is_empty() { text(&entry.text) } else { format!("{symbol} {}", text(&entry.text)) }
}

fn grid(grid: &Grid, page: &mut String) {
    let head = std::iter::once(grid.row_title.clone()).chain(grid.columns.iter().cloned());
    let mut as_table = Table::new(grid.caption.clone(), head);
    for row in &grid.rows {
        let name = Entry::new(row.name.clone(), row.tone);
        let squares = row.squares.iter().map(|square| {
            if square.word.is_empty() {
                Entry::default()
            } else {
                Entry::new(square.word.clone(), square.tone)
            }
        });
        as_table = as_table.row(std::iter::once(name).chain(squares));
    }
    table(&as_table, page);
}

/// A row for each place at which something was measured, a column for each line.
fn plot(plot: &Plot, page: &mut String) {
    let mut places: Vec<f64> =
        plot.series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let head =
        std::iter::once(plot.x.label.clone()).chain(plot.series.iter().map(|series| series.name.clone()));
    let mut as_table = Table::new(format!("{} ({})", plot.caption, plot.y.label), head);
    for place in places {
        let values = plot.series.iter().map(|series| {
            let point = series.points.iter().find(|point| point.x.total_cmp(&place).is_eq());
            Entry::from(point.map(|point| figure(point.y)).unwrap_or_default())
        });
        as_table = as_table.row(std::iter::once(Entry::from(figure(place))).chain(values));
    }
    table(&as_table, page);
}

fn compare(compare: &Compare, page: &mut String) {
    let lines = compare.lines();
    _ = write!(page, "\n- {}\n+ {}\n", text(&compare.left_title), text(&compare.right_title));
    if lines.is_empty() {
        page.push_str("\nNo difference.\n");
        return;
    }
    let lines: Vec<String> = lines.iter().map(|(side, line)| format!("{}{line}", side.sign())).collect();
    _ = write!(page, "\n{}\n", fenced("diff", &lines.join("\n")));
}
