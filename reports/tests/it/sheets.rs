use onejob_reports::{
    redact::Secrets,
    sheet::{
        Axis, Block, Compare, Entry, Grid, GridRow, Plot, Point, Section, Sheet, Square, Table, Tone, html,
        markdown,
    },
};

use crate::sheet_fixtures::{bench, contract, kill_matrix};

fn page(sheet: &Sheet) -> String {
    let mut out = Vec::new();
    html(sheet, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn summary(sheet: &Sheet) -> String {
    let mut out = Vec::new();
    markdown(sheet, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_kill_matrix_in_markdown() {
    insta::assert_snapshot!(summary(&kill_matrix()));
}

#[test]
fn benchmarks_in_markdown_are_tables_of_figures() {
    insta::assert_snapshot!(summary(&bench()));
}

#[test]
fn contracts_in_markdown_show_what_differs() {
    insta::assert_snapshot!(summary(&contract()));
}

#[test]
fn no_page_loads_anything() {
    for sheet in [kill_matrix(), bench(), contract()] {
        let page = page(&sheet);
        for sign in [" src=", "@import", "url(", "<link", "<iframe", " style=", " onerror="] {
            assert!(!page.contains(sign), "{sign}");
        }
        assert!(page.contains("default-src"));
    }
}

#[test]
fn every_square_of_a_grid_is_said_in_words() {
    let page = page(&kill_matrix());
    assert_eq!(page.matches("<td class=\"sq ").count(), 36);
    assert!(page.contains("<i>killed</i>") && page.contains("<i>not tried</i>"));
    assert!(page.contains("reverse-finish killed: broke <code>at-most-one-effect</code>"), "{page}");
}

#[test]
fn every_point_of_a_plot_is_drawn_and_stands_in_the_table() {
    let page = page(&bench());
    assert_eq!(
        page.matches("<use href=\"#p-").count(),
        4 * 5 + 4 + 2 * 4 + 2,
        "points, and a marker beside each name"
    );
    assert_eq!(page.matches("class=\"range\"").count(), 20);
    assert!(page.contains("to 4558"), "{page}");
}

#[test]
fn what_cannot_stand_on_an_axis_is_left_out_of_the_plot_and_not_of_the_table() {
    let points = [(0.0, 5.0), (1.0, f64::NAN), (2.0, 7.0), (4.0, f64::INFINITY), (8.0, 0.0)].map(Point::from);
    let plot = Plot::new("p", Axis::logarithmic("x"), Axis::logarithmic("y")).line("a", points);
    let page = page(&Sheet::new("t", Tone::Plain, "w", "").section("s", |section| section.plot(plot)));
    assert_eq!(page.matches("<use href=\"#p-0\"").count(), 2, "one point, one name");
    assert!(!page.contains("NaN\""), "no number that isn't one in the picture");
    assert_eq!(page.matches("<th scope=\"row\">a</th>").count(), 5);
}

#[test]
fn empty_plots_tables_and_grids_are_pages_too() {
    let sheet = Sheet::new("", Tone::Doubt, "", "").section("", |section| {
        section
            .plot(Plot::new("", Axis::linear(""), Axis::logarithmic("")).line("none", []))
            .table(Table::new("", Vec::<String>::new()))
            .grid(Grid::new("", "", Vec::<String>::new()))
            .compare(Compare::default())
    });
    assert!(page(&sheet).contains("No difference."));
    assert!(summary(&sheet).contains("No difference."));
}

#[test]
fn rows_are_as_long_as_their_head() {
    let table = Table::new("", ["a", "b"]).row(["1".into()]).row(["1".into(), "2".into(), "3".into()]);
    assert!(table.rows.iter().all(|row| row.len() == 2));
    let row = GridRow { squares: vec![Square::default(); 5], ..GridRow::default() };
    assert_eq!(Grid::new("", "", ["a", "b"]).row(row).rows[0].squares.len(), 2);
}

const SECRET: &str = "hunter2hunter2";

/// A sheet with the text in every place that takes one.
fn planted(text: &str) -> Sheet {
    let table = Table::new(text, [text]).row([Entry::new(text, Tone::Bad)]);
    let grid = Grid::new(text, text, [text]).row(GridRow {
        name: text.into(),
        tone: Tone::Good,
        note: text.into(),
        squares: vec![Square::new(Tone::Good, text, text)],
    });
    let plot = Plot::new(text, Axis::linear(text), Axis::linear(text)).line(text, [(1.0, 1.0).into()]);
    let compare = Compare::new(text, format!("left {text}"), text, format!("right {text}"));
    let fill = |section: Section| {
        section.prose(text).warning(text).command(text).table(table).grid(grid).plot(plot).compare(compare)
    };
    Sheet::new(text, Tone::Bad, text, text).fact(text, text).section(text, |section| section.fold(text, fill))
}

#[test]
fn a_secret_in_every_text_of_a_sheet_reaches_no_page() {
    let sheet = planted(SECRET);
    assert!(
        page(&sheet).matches(SECRET).count() > 20 && summary(&sheet).contains(SECRET),
        "so this test can fail"
    );
    let clean = Secrets::new().value(SECRET).sheet(sheet);
    assert!(!format!("{clean:?}").contains(SECRET), "{clean:?}");
    assert!(!page(&clean).contains(SECRET) && !summary(&clean).contains(SECRET));
    let named = Secrets::new().name("pin").sheet(Sheet::default().fact("PIN", "1234"));
    assert_eq!(named.facts[0].value, "[redacted]");
}

#[test]
fn hostile_text_stays_text_on_every_page() {
    let attack = "</title><script>alert(1)</script><img src=x onerror=alert(1)>\"'`a`\u{1b}[31m\u{202e}";
    let page = page(&planted(attack));
    assert_eq!(page.matches("<script>").count(), 1);
    assert!(!page.contains("<img"));
    assert!(!page.contains(['\u{1b}', '\u{202e}']));
}

#[test]
fn a_fold_within_a_fold_is_rendered() {
    let inner = Block::Fold { summary: "inner".into(), blocks: vec![Block::Prose("deep".into())] };
    let sheet = Sheet::new("t", Tone::Plain, "w", "")
        .section("s", |section| section.fold("outer", |section| section.block(inner)));
    assert!(page(&sheet).contains("<summary>inner</summary><p class=\"text\">deep</p></details></details>"));
}
