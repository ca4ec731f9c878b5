//! A benchmark as a terminal shows it.

use std::fmt::Write as _;

use super::{
    BenchReport, Limit, Row,
    points::{by_cluster, cluster_words},
    sheet::{by_how_much, limit_words, verdict},
};
use crate::{
    sheet::figure,
    text::{human::duration, plain},
};

/// The benchmark as text for a terminal of this width: a table for each cluster, with what became worse below.
#[must_use]
pub fn text(report: &BenchReport, width: usize) -> String {
    let mut page = String::new();
    // A String takes whatever is written to it, so the results of `writeln!` are dropped.
    for (name, rows) in by_cluster(report) {
        _ = writeln!(page, "{}", plain::one_line(&cluster_words(name)));
        page.push_str(&columns(&table(&rows), width));
        page.push('\n');
    }
    _ = match &report.limit {
        Limit::Absent { why } => writeln!(page, "no limit beside the figures: {}", plain::one_line(why)),
        limit => writeln!(page, "limit: {}", plain::one_line(&limit_words(limit))),
    };
    for point in &report.not_measured {
        _ = writeln!(page, "not measured: {}", plain::one_line(point));
    }
    for note in &report.notes {
        _ = writeln!(page, "{}", textwrap::fill(&plain::one_line(note), plain::wrapping(width)));
    }
    if let Some(comparison) = &report.comparison {
        for point in &comparison.points {
            let word = if point.regression { "WORSE" } else { "as before" };
            _ = writeln!(
                page,
                "{word:<9}  {}: {} was {:.3}, is {:.3} ({}, p = {:.3})",
                plain::one_line(&point.point),
                plain::one_line(&point.by),
                point.before,
                point.now,
                by_how_much(point.worse_percent),
                point.p
            );
        }
        for why in &comparison.left_out {
            _ = writeln!(page, "not compared: {}", plain::one_line(why));
        }
    }
    _ = writeln!(page, "{}", verdict(report).1);
    page
}

fn table(rows: &[&Row]) -> Vec<Vec<String>> {
    let head = [
        "", "a second", "limit", "plain", "p50", "p99", "p99.9", "retries", "unknown", "fairness", "flushes",
    ];
    let mut table: Vec<Vec<String>> = vec![head.map(str::to_owned).to_vec()];
    table.extend(rows.iter().map(|row| {
        let all = row.latency.all;
        vec![
            plain::one_line(&row.point()).into_owned(),
            figure(row.rate.median),
            row.to_limit.map(|ratio| format!("{:.2}", ratio.median)).unwrap_or_default(),
            row.to_baseline.map(|ratio| format!("{:.2}", ratio.median)).unwrap_or_default(),
            duration(all.p50),
            duration(all.p99),
            duration(all.p999),
            row.counts.retries.to_string(),
            row.counts.unknown.to_string(),
            row.fairness.map(|index| format!("{index:.2}")).unwrap_or_default(),
            row.wal_syncs.map(figure).unwrap_or_default(),
        ]
    }));
    table
}

/// Columns as wide as what stands in them: names to the left, figures to the right. Columns that hold nothing are left out,
/// and the last ones where they don't fit; every figure is in the other formats.
fn columns(rows: &[Vec<String>], width: usize) -> String {
    let widths = |column: usize| rows.iter().map(move |row| plain::width(&row[column]));
    let told = |column: &usize| *column == 0 || rows.iter().skip(1).any(|row| !row[*column].is_empty());
    let mut used = 0;
    let shown: Vec<(usize, usize)> = (0..rows[0].len())
        .filter(told)
        .map(|column| (column, widths(column).max().unwrap_or(0)))
        .take_while(|(column, wide)| {
            used += wide + 2;
            *column < 2 || used <= width + 2
        })
        .collect();
    let mut page = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, wide) in &shown {
            let room = " ".repeat(wide - plain::width(&row[*column]));
            _ = if *column == 0 {
                write!(line, "{}{room}", row[*column])
            } else {
                write!(line, "  {room}{}", row[*column])
            };
        }
        page.push_str(line.trim_end());
        page.push('\n');
    }
    page
}
