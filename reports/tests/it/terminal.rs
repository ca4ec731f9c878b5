use onejob_reports::{
    model::{Cell, Progress, RunReport},
    term::{ColorChoice, Environment, TermOptions, Terminal, Volume, render},
};

use crate::fixtures::{CellBuilder, all_green, interrupted, one_of_each, report, suite};

fn shown(report: &RunReport, options: TermOptions) -> String {
    let mut out = Vec::new();
    render(report, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn plain(width: usize, volume: Volume) -> TermOptions {
    TermOptions { width, volume, ..TermOptions::default() }
}

#[test]
fn a_green_run_is_one_line_a_cell_and_a_summary() {
    insta::assert_snapshot!(shown(&all_green(), TermOptions::default()));
}

#[test]
fn a_run_with_every_verdict_shows_one_screen_for_each_that_is_not_green() {
    insta::assert_snapshot!(shown(&one_of_each(), plain(120, Volume::Normal)));
}

/// What the program printed is why it ended: shown line by line, its end rather than its beginning.
#[test]
fn what_a_service_printed_before_it_ended_is_readable() {
    let long: Vec<String> = (0..40).map(|n| format!("    line {n}\n")).collect();
    let long = long.concat();
    let cell = CellBuilder::passing("x").error().with(|cell| {
        let error = cell.error.as_mut().unwrap();
        error.message =
            format!("the service ended while it was being started (exit status: 1)\nits output:\n{long}");
    });
    let cell = cell.build();
    let text = shown(&report(vec![cell.clone()]), TermOptions::default());
    assert!(
        text.contains("  OJ3004: the service ended while it was being started (exit status: 1)\n"),
        "{text}"
    );
    assert!(text.contains("\n      line 39\n") && !text.contains("line 3\n"), "{text}");
    assert!(!text.contains("\\n"), "{text}");
    let mut junit = Vec::new();
    onejob_reports::junit::render(&report(vec![cell.clone()]), &mut junit).unwrap();
    let junit = String::from_utf8(junit).unwrap();
    assert!(
        junit.contains("message=\"OJ3004: the service ended while it was being started (exit status: 1)\"")
            && junit.contains("line 39"),
        "{junit}"
    );
    let mut html = Vec::new();
    onejob_reports::html::render(&report(vec![cell]), &mut html).unwrap();
    let html = String::from_utf8(html).unwrap();
    assert!(html.contains("its output:\n    line 0\n") && !html.contains("output:\\n"), "{html}");
}

#[test]
fn a_narrow_terminal_gets_the_same_story_without_bars() {
    let red = report(vec![CellBuilder::passing("reverse-finish").failing().build()]);
    insta::assert_snapshot!(shown(&red, plain(60, Volume::Normal)));
}

#[test]
fn verbose_adds_every_promise_and_witness() {
    insta::assert_snapshot!(shown(&all_green(), plain(100, Volume::Verbose)));
}

#[test]
fn quiet_and_green_is_the_last_line_alone() {
    assert_eq!(shown(&all_green(), plain(100, Volume::Quiet)), "pass     3 passed in 3.21 s · seed 42\n");
}

#[test]
fn an_interrupted_run_says_what_is_missing() {
    let text = shown(&interrupted(), TermOptions::default());
    assert!(text.contains("3 of 5 cells planned did not run"), "{text}");
    assert!(text.contains("reverse-finish"), "{text}");
    assert!(text.lines().last().unwrap().starts_with("interrupted"), "{text}");
}

#[test]
fn no_line_but_a_command_is_wider_than_the_terminal() {
    for width in [48, 60, 80, 84, 100, 132, 200] {
        for line in shown(&one_of_each(), plain(width, Volume::Verbose)).lines() {
            let wide = unicode_width::UnicodeWidthStr::width(line);
            assert!(wide <= width || line.contains("onejob "), "{wide} columns at width {width}: {line}");
        }
    }
}

#[test]
fn the_winner_and_the_discarded_result_are_told_by_words() {
    let text = shown(&one_of_each(), TermOptions::default());
    let won = text.lines().position(|line| line.contains("WON") && line.contains("attempt 2")).unwrap();
    let late =
        text.lines().position(|line| line.contains("DISCARDED") && line.contains("attempt 1")).unwrap();
    assert!(won < late, "{text}");
}

#[test]
fn without_color_there_is_no_escape_sequence() {
    assert!(!shown(&one_of_each(), TermOptions::default()).contains('\u{1b}'));
}

#[test]
fn with_color_the_text_is_the_same_once_the_colours_are_taken_off() {
    let options = TermOptions { color: true, ..TermOptions::default() };
    let coloured = shown(&one_of_each(), options);
    assert!(coloured.contains("\u{1b}[1m\u{1b}[31m"), "{coloured:?}");
    let stripped = anstream::adapter::strip_str(&coloured).to_string();
    let bare = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(bare(&stripped), bare(&shown(&one_of_each(), TermOptions::default())));
}

#[test]
fn an_escape_sequence_from_the_target_is_spelled_out() {
    let nasty = |cell: &mut Cell| {
        cell.timeline[0].what = "POST → \u{1b}]0;owned\u{7}".into();
        cell.promises[0].sentence = "\u{1b}[2J gone".into();
        cell.scenario = "evil\u{1b}[1m".into();
        cell.replay = "onejob\nrm".into();
    };
    let red = report(vec![CellBuilder::passing("x").failing().with(nasty).build()]);
    let text = shown(&red, plain(120, Volume::Verbose));
    assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text:?}");
    assert!(text.contains("\\u{1b}]0;owned\\u{7}"), "{text}");
    assert!(text.contains("onejob\\nrm"), "{text}");
}

#[test]
fn a_flood_of_failures_keeps_four_screens_and_lists_them_all() {
    let text = shown(&suite(500), TermOptions::default());
    assert_eq!(text.matches("  again  ").count(), 4);
    let listed = text.matches("changed from attempt 2's").count();
    assert!(listed >= 10, "{listed}\n{text}");
}

#[test]
fn a_long_timeline_is_shortened_and_keeps_the_evidence() {
    let long = |cell: &mut Cell| {
        let filler = cell.timeline[0].clone();
        for id in 100..400 {
            let mut moment = filler.clone();
            moment.id = id;
            moment.what = format!("GET /v1/jobs/{id} → 200");
            moment.at_us = 600_000 + id;
            moment.until_us = None;
            cell.timeline.push(moment);
        }
    };
    let red = report(vec![CellBuilder::passing("reverse-finish").failing().with(long).build()]);
    let text = shown(&red, TermOptions::default());
    assert!(text.lines().count() < 45, "{text}");
    assert!(text.contains("BROKE") && text.contains("DISCARDED") && text.contains("WON"), "{text}");
    assert!(text.contains("moments not shown"), "{text}");
}

/// A client that polls until something happens.
fn polling(cell: &mut Cell) {
    let poll = cell.timeline[0].clone();
    for id in 100..140 {
        let mut again = poll.clone();
        (again.id, again.at_us, again.until_us) = (id, 600_000 + id * 100, Some(600_050 + id * 100));
        again.who = "wait".into();
        again.what = "GET /v1/jobs/01a2309b-17c6-715e-bddf-5dfac17c78a8 → 200 running".into();
        cell.timeline.push(again);
    }
}

#[test]
fn who_polls_is_told_once_with_how_often() {
    let red = report(vec![CellBuilder::passing("reverse-finish").failing().with(polling).build()]);
    let text = shown(&red, plain(130, Volume::Normal));
    assert_eq!(text.matches("GET /v1/jobs/…7c78a8 → 200 running (40 times)").count(), 1, "{text}");
    assert!(!text.contains("not shown"), "{text}");
}

#[test]
fn evidence_is_never_folded_away() {
    let red =
        CellBuilder::passing("x").failing().with(polling).with(|cell| cell.promises[0].evidence = vec![120]);
    let text = shown(&report(vec![red.build()]), plain(130, Volume::Verbose));
    assert!(text.contains("(20 times)") && text.contains("(19 times)"), "{text}");
}

#[test]
fn an_error_beside_a_broken_promise_is_told_too() {
    let error = CellBuilder::passing("x").error().build().error;
    let both = CellBuilder::passing("x").failing().with(|cell| cell.error = error);
    let text = shown(&report(vec![both.build()]), plain(120, Volume::Normal));
    assert!(text.contains("error  OJ3004: the target answered HTML"), "{text}");
}

#[test]
fn of_many_witnesses_the_line_has_the_one_that_says_most() {
    let cell = CellBuilder::passing("x").with(|cell| {
        let mut short = cell.witnesses[0].clone();
        (short.name, short.detail) = ("answered end".into(), "3 answers".into());
        cell.witnesses.insert(0, short);
    });
    let text = shown(&report(vec![cell.build()]), plain(120, Volume::Normal));
    assert!(text.contains("witness: 8 requests waited on the lock, and 1 more"), "{text}");
    let cell = CellBuilder::passing("x").with(|cell| cell.witnesses[0].detail = "answered".into());
    let text = shown(&report(vec![cell.build()]), plain(120, Volume::Normal));
    assert!(text.contains("witness: overlap: answered"), "{text}");
}

#[test]
fn a_name_is_never_broken_at_its_hyphens() {
    let text = shown(&suite(30), plain(60, Volume::Normal));
    assert!(text.lines().all(|line| !line.ends_with('-')), "{text}");
}

#[test]
fn a_listener_told_step_by_step_writes_what_render_writes() {
    let report = one_of_each();
    let mut terminal = Terminal::new(TermOptions::default(), Vec::new());
    terminal
        .on(&Progress::RunStarted {
            target: report.target.clone(),
            database: report.database.clone(),
            cells: report.planned,
        })
        .unwrap();
    for cell in &report.cells {
        terminal.on(&Progress::CellStarted { scenario: cell.scenario.clone(), at: cell.at.clone() }).unwrap();
        terminal.on(&Progress::CellFinished { cell: Box::new(cell.clone()) }).unwrap();
    }
    terminal.on(&Progress::RunFinished { report: Box::new(report.clone()) }).unwrap();
    let listened = String::from_utf8(terminal.into_inner()).unwrap();
    assert_eq!(listened, shown(&report, TermOptions::default()));
}

#[test]
fn colours_follow_the_flag_then_no_color_then_the_terminal() {
    let environment = |pairs: &'static [(&str, &str)]| {
        Environment::read(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    };
    let color = |choice, terminal, environment: &Environment| {
        TermOptions::decide(choice, Volume::Normal, terminal, None, environment).color
    };
    let bare = environment(&[]);
    let no_color = environment(&[("NO_COLOR", "1")]);
    let empty_no_color = environment(&[("NO_COLOR", "")]);
    let forced = environment(&[("CLICOLOR_FORCE", "1")]);
    let both = environment(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]);
    let dumb = environment(&[("TERM", "dumb")]);
    assert!(color(ColorChoice::Auto, true, &bare));
    assert!(!color(ColorChoice::Auto, false, &bare));
    assert!(!color(ColorChoice::Auto, true, &no_color));
    assert!(color(ColorChoice::Auto, true, &empty_no_color));
    assert!(color(ColorChoice::Always, false, &no_color));
    assert!(!color(ColorChoice::Never, true, &forced));
    assert!(color(ColorChoice::Auto, false, &forced));
    assert!(!color(ColorChoice::Auto, true, &both));
    assert!(!color(ColorChoice::Auto, true, &dumb));
}

#[test]
fn a_width_that_nobody_can_read_is_widened() {
    let decide = |columns| {
        TermOptions::decide(ColorChoice::Auto, Volume::Normal, true, columns, &Environment::default()).width
    };
    assert_eq!(decide(Some(0)), 40);
    assert_eq!(decide(Some(93)), 93);
    assert_eq!(decide(Some(4000)), 200);
    assert_eq!(decide(None), 100);
}

#[test]
fn a_real_file_becomes_a_link_and_an_embedded_one_does_not() {
    let options = TermOptions { links: true, ..TermOptions::default() };
    let text = shown(&one_of_each(), options);
    assert!(text.contains("\u{1b}]8;;file:///"), "{text:?}");
    let embedded = |cell: &mut Cell| cell.source.file = "embedded:reverse-finish".into();
    let red = report(vec![CellBuilder::passing("reverse-finish").failing().with(embedded).build()]);
    assert!(!shown(&red, options).contains('\u{1b}'));
}
