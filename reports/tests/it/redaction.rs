use onejob_reports::{
    Format,
    exit::ExitCode,
    model::{CellError, Progress, RunReport},
    redact::{REDACTED, Secrets},
    render,
};
use serde_json::Value;

use crate::fixtures::{CellBuilder, one_of_each, report};

const SECRET: &str = "s3cr3t/Tok+en=='\"ü 9";

/// Every optional text is there, so that one can be planted in each.
fn full() -> RunReport {
    let cell = CellBuilder::passing("full").at("clicks", "8").failing().with(|cell| {
        cell.skipped = Some("reason".into());
        cell.error = Some(CellError {
            code: "OJ1".into(),
            message: "message".into(),
            help: "help".into(),
            exit: ExitCode::Target,
        });
    });
    let mut report = report(vec![cell.build()]);
    report.not_run = vec!["other".into()];
    report.profile.widens = vec!["wider".into()];
    report.defects = vec!["defect".into()];
    report
}

/// Puts the text into every string of the report, names in maps included, that isn't one of a closed set of words.
/// Returns in how many.
fn plant(value: &Value, text: &str, planted: &mut usize) -> Value {
    const CLOSED: [&str; 5] = ["verdict", "outcome", "lane", "mark", "exit"];
    match value {
        Value::String(_) => {
            *planted += 1;
            Value::from(format!("before {text} after"))
        }
        Value::Array(items) => items.iter().map(|item| plant(item, text, planted)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| match name.as_str() {
                closed if CLOSED.contains(&closed) || closed == "repeats" => (name.clone(), member.clone()),
                "at" => {
                    *planted += 1;
                    (name.clone(), serde_json::json!({ format!("axis {text}"): format!("value {text}") }))
                }
                _ => (name.clone(), plant(member, text, planted)),
            })
            .collect(),
        other => other.clone(),
    }
}

fn planted(text: &str) -> RunReport {
    let mut places = 0;
    let value = plant(&serde_json::to_value(full()).unwrap(), text, &mut places);
    assert!(places >= 59, "{places} places");
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_secret_in_every_text_of_a_report_reaches_no_format() {
    let report = planted(SECRET);
    let clean = Secrets::new().value(SECRET).report(report.clone());
    for format in Format::ALL {
        let mut before = Vec::new();
        render(&report, format, &mut before).unwrap();
        let mut after = Vec::new();
        render(&clean, format, &mut after).unwrap();
        let (before, after) = (String::from_utf8(before).unwrap(), String::from_utf8(after).unwrap());
        assert!(before.contains("s3cr3t"), "{format} shows it when it isn't redacted, so this test can fail");
        assert!(!after.contains("s3cr3t"), "{format}: {after}");
        assert!(after.contains("redacted"), "{format}");
    }
}

#[test]
fn a_secret_is_found_in_each_way_in_which_it_is_written() {
    let secrets = Secrets::new().value(SECRET);
    let ways = [
        SECRET.to_owned(),
        serde_json::to_string(SECRET).unwrap(),
        "s3cr3t%2FTok%2Ben%3D%3D%27%22%C3%BC%209".into(),
        "s3cr3t%2fTok%2ben%3d%3d%27%22%c3%bc%209".into(),
        "s3cr3t%2FTok%2Ben%3D%3D%27%22%C3%BC+9".into(),
        "'s3cr3t/Tok+en=='\\''\"ü 9'".into(),
        "czNjcjN0L1Rvaytlbj09JyLDvCA5".into(),
    ];
    for way in ways {
        let clean = secrets.text(&way).into_owned();
        assert!(clean.contains(REDACTED), "{way}");
        for piece in ["s3cr3t", "Tok", "czNj"] {
            assert!(!clean.contains(piece), "{way} became {clean}");
        }
    }
}

#[test]
fn a_password_is_found_in_basic_credentials_whatever_the_user() {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let secrets = Secrets::new().value("correct horse battery");
    for user in ["a", "bob", "alice", "service"] {
        let credentials = STANDARD.encode(format!("{user}:correct horse battery"));
        let clean = secrets.text(&credentials).into_owned();
        assert!(clean.contains(REDACTED), "{user}: {clean}");
    }
}

#[test]
fn secrets_that_overlap_leave_nothing_of_each_other() {
    let secrets = Secrets::new().value("abcabc").value("bcdef");
    assert_eq!(secrets.text("xabcabcdefx"), format!("x{REDACTED}x"));
    assert_eq!(Secrets::new().value("aba").text("ababa!"), format!("{REDACTED}!"));
}

#[test]
fn values_under_secret_names_are_found_wherever_names_stand() {
    let secrets = Secrets::new().name("X-Tenant");
    let cases = [
        ("Authorization: Bearer abc.def", "Authorization: [redacted]"),
        ("curl -H 'authorization: Bearer a b' http://x", "curl -H 'authorization: [redacted]' http://x"),
        ("curl -H \"cookie: a=b; c=d\" http://x", "curl -H \"cookie: [redacted]\" http://x"),
        ("curl -d '{\"password\":\"p w\",\"n\":1}'", "curl -d '{\"password\":\"[redacted]\",\"n\":1}'"),
        ("{\"pin_token\": 1234, \"n\": 1}", "{\"pin_token\": [redacted], \"n\": 1}"),
        (r#""{\"api_key\":\"k\",\"n\":1}""#, r#""{\"api_key\":\"[redacted]\",\"n\":1}""#),
        ("GET /jobs?access_token=abc&n=1", "GET /jobs?access_token=[redacted]&n=1"),
        ("API_KEY=abc onejob run", "API_KEY=[redacted] onejob run"),
        ("onejob serve --token alice --seed 4", "onejob serve --token [redacted] --seed 4"),
        ("onejob serve --client-secret=abc", "onejob serve --client-secret=[redacted]"),
        ("x-tenant: acme", "x-tenant: [redacted]"),
        ("X_TENANT=acme n=1", "X_TENANT=[redacted] n=1"),
        ("postgres://bob:hunter2@localhost/db", "postgres://bob:[redacted]@localhost/db"),
        ("sent Bearer abcdefgh12 twice", "sent Bearer [redacted] twice"),
        ("-H 'cookie: it'\\''s' -v", "-H 'cookie: [redacted]' -v"),
    ];
    for (text, clean) in cases {
        assert_eq!(secrets.text(text), clean, "{text}");
    }
}

#[test]
fn what_is_no_secret_stays_as_it_is() {
    let secrets = Secrets::new().value("hunter2").name("x-tenant");
    for text in [
        "POST /v1/jobs → 201 queued",
        "idempotency-key: k-1",
        "-H 'idempotency-key: k-1'",
        "max_tokens=5, tokens: 7",
        "the bearer of bad news",
        "http://127.0.0.1:4000/v1/jobs",
        "attempt 2: compare-and-swap at version 2",
        "cookies",
    ] {
        assert!(
            matches!(secrets.text(text), std::borrow::Cow::Borrowed(_)),
            "{text} → {}",
            secrets.text(text)
        );
    }
}

/// Three cells whose points read `token=[redacted]` would be one and the same cell.
#[test]
fn a_point_of_the_matrix_is_no_secret_whatever_its_axis_is_called() {
    let cell = CellBuilder::passing("x").at("token", "stolen").with(|cell| {
        cell.replay = "onejob run 'x token=stolen' --token abc --seed 42".into();
    });
    let clean = Secrets::new().cell(cell.build());
    assert_eq!(clean.at["token"], "stolen");
    assert_eq!(clean.replay, "onejob run 'x token=stolen' --token [redacted] --seed 42");
    let clean = Secrets::new().value("stolen").cell(CellBuilder::passing("x").at("token", "stolen").build());
    assert!(!format!("{clean:?}").contains("stolen"), "a known value is one everywhere: {clean:?}");
}

#[test]
fn every_step_of_a_run_is_cleaned() {
    let secrets = Secrets::new().value(SECRET);
    let report = planted(SECRET);
    let cell = report.cells[0].clone();
    let steps = [
        Progress::RunStarted { target: SECRET.into(), database: Some(SECRET.into()), cells: 1 },
        Progress::CellStarted { scenario: SECRET.into(), at: [(SECRET.into(), SECRET.into())].into() },
        Progress::CellFinished { cell: Box::new(cell) },
        Progress::RunFinished { report: Box::new(report) },
    ];
    for step in steps {
        let clean = secrets.progress(step);
        assert!(!serde_json::to_string(&clean).unwrap().contains("s3cr3t"), "{clean:?}");
    }
}

#[test]
fn cleaning_twice_changes_nothing_more() {
    let secrets = Secrets::new().value(SECRET).name("x-tenant");
    let once = secrets.report(planted(&format!("{SECRET} -H 'x-tenant: a' password=b")));
    assert_eq!(secrets.report(once.clone()), once);
}

#[test]
fn a_report_without_secrets_is_not_changed() {
    assert_eq!(Secrets::new().value("hunter2").report(one_of_each()), one_of_each());
}

#[test]
fn an_empty_value_and_an_empty_name_are_ignored() {
    assert_eq!(Secrets::new().value("").name("").name("-").text("a b"), "a b");
}

#[test]
fn secrets_do_not_show_themselves() {
    let shown = format!("{:?}", Secrets::new().value(SECRET).name("x-tenant"));
    assert!(!shown.contains("s3cr3t"), "{shown}");
}
