//! Scenario and target files: what is accepted, and how each mistake is told.
//!
//! `tests/fixtures/{scenario,target}/bad/NAME.toml` has `NAME.err` beside it: the error as it is shown. After a change
//! that is meant, `ONEJOB_UPDATE_EXPECTED=1 cargo test` writes them anew; read the difference before you commit it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use onejob::{
    fail::{Code, Fault, Look, render},
    scenario::{self, Capability as C, Loaded},
    target::{self, TargetFile},
};

fn fixtures(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(kind)
}

/// The `.toml` files of a folder of fixtures, by name.
fn files(kind: &str) -> Vec<(String, String)> {
    let folder = fixtures(kind);
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| {
            let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).expect("fixtures are UTF-8"))
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no fixtures in {}", folder.display());
    files
}

fn load_scenario(name: &str, text: &str) -> Result<Vec<Loaded>, Fault> {
    scenario::load_str(name, text)?.cells()
}

/// The environment of the target fixtures.
fn variable(name: &str) -> Option<String> {
    match name {
        "FIXTURE_TOKEN" => Some("s3cret-of-the-fixture".to_owned()),
        "FIXTURE_URL" => Some("http://127.0.0.1:8080".to_owned()),
        _ => None,
    }
}

fn load_target(name: &str, text: &str) -> Result<TargetFile, Fault> {
    target::load_with(name, text, &variable)
}

/// Compares every error with its expected text; all differences at once.
fn compare<T>(kind: &str, load: impl Fn(&str, &str) -> Result<T, Fault>) -> BTreeSet<Code> {
    let update = std::env::var_os("ONEJOB_UPDATE_EXPECTED").is_some();
    let mut codes = BTreeSet::new();
    let mut wrong = Vec::new();
    for (name, text) in files(kind) {
        let Err(fault) = load(&name, &text) else {
            wrong.push(format!("{kind}/{name} is accepted"));
            continue;
        };
        codes.extend(std::iter::once(&fault).chain(fault.others()).map(Fault::code));
        assert!(!fault.advice().is_empty(), "{kind}/{name}: {fault} says nothing about what to do");
        let shown = render(&fault, Look::default());
        let path = fixtures(kind).join(&name).with_extension("err");
        if update {
            fs::write(&path, &shown).expect("the expected text can be written");
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if shown != expected {
            wrong.push(format!("{kind}/{name} is told as\n{shown}\nand not as\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    codes
}

/// Codes of a range that a file alone can cause.
fn codes_of_files(range: &str) -> BTreeSet<Code> {
    // These need a second file, a folder, or a target to run.
    let elsewhere = [
        Code::ScenarioTwice,
        Code::ScenarioSetting,
        Code::ScenarioNowhere,
        Code::ScenarioUnreadable,
        Code::TargetUnreadable,
        Code::AnswerHtml,
        Code::AnswerNotJson,
        Code::AnswerPointer,
        Code::AnswerState,
    ];
    Code::ALL
        .iter()
        .copied()
        .filter(|code| code.number().starts_with(range) && !elsewhere.contains(code))
        .collect()
}

#[test]
fn every_mistake_in_a_scenario_is_told_with_place_and_remedy() {
    let codes = compare("scenario/bad", load_scenario);
    assert_eq!(codes, codes_of_files("OJ1"), "each code of scenario files has a fixture");
}

#[test]
fn every_mistake_in_a_target_is_told_with_place_and_remedy() {
    let codes = compare("target/bad", load_target);
    assert_eq!(codes, codes_of_files("OJ2"), "each code of target files has a fixture");
}

#[test]
fn good_scenarios_are_accepted_and_fit_the_schema() {
    let schema = jsonschema::validator_for(&scenario::schema()).expect("the schema is one");
    for (name, text) in files("scenario/good") {
        let file = scenario::load_str(&name, &text)
            .unwrap_or_else(|fault| panic!("{}", render(&fault, Look::default())));
        file.cells().unwrap_or_else(|fault| panic!("{}", render(&fault, Look::default())));
        let wrong: Vec<_> = schema.iter_errors(&file.to_json()).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    }
}

#[test]
fn good_targets_are_accepted() {
    for (name, text) in files("target/good") {
        load_target(&name, &text).unwrap_or_else(|fault| panic!("{}", render(&fault, Look::default())));
    }
}

#[test]
fn the_embedded_suite_is_sound_and_fits_the_schema() {
    let schema = jsonschema::validator_for(&scenario::schema()).expect("the schema is one");
    let suite = scenario::embedded().unwrap_or_else(|fault| panic!("{}", render(&fault, Look::default())));
    for file in &suite {
        file.cells().unwrap_or_else(|fault| panic!("{}", render(&fault, Look::default())));
        let wrong: Vec<_> = schema.iter_errors(&file.to_json()).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{}: {wrong:#?}", file.source());
    }
    let ids: Vec<_> = suite.iter().filter_map(scenario::ScenarioFile::id).collect();
    for id in
        ["double-click", "key-reuse", "unknown-blocks", "reverse-finish-race", "reverse-finish-exclusive"]
    {
        assert!(ids.contains(&id), "{id} is embedded");
    }
}

#[test]
fn every_scenario_of_the_suite_can_run_against_the_reference_service() {
    let target = target::reference().unwrap_or_else(|fault| panic!("{}", render(&fault, Look::default())));
    let has = target.capabilities();
    for file in scenario::embedded().expect("the suite is sound") {
        for cell in file.cells().expect("the suite is sound") {
            let lacks: Vec<_> = cell.needs().difference(&has).copied().collect();
            assert!(lacks.is_empty(), "{} needs {lacks:?}", cell.name());
            for knob in cell.scenario.settings.keys() {
                assert!(target.settings.contains_key(knob), "{} turns the knob {knob}", cell.name());
            }
        }
    }
}

#[test]
fn the_reference_target_fits_the_schema_and_its_secrets_are_known() {
    let target = target::reference().expect("it is sound");
    let json = serde_json::to_value(&target).expect("a model is JSON");
    let schema = jsonschema::validator_for(&target::schema()).expect("the schema is one");
    // Fields without a value are left out in a file, which JSON made from the model can't show.
    let wrong: Vec<_> = schema.iter_errors(&without_nulls(json)).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let token = target.owner[0].token.clone().expect("alice has one");
    assert_eq!(target.hidden.redact(&format!("x {token} y")), "x *** y");
    assert!(!format!("{:?}", target.hidden).contains(&token));
}

fn without_nulls(json: serde_json::Value) -> serde_json::Value {
    match json {
        serde_json::Value::Object(members) => {
            let kept = members.into_iter().filter(|(_, value)| !value.is_null());
            kept.map(|(key, value)| (key, without_nulls(value))).collect()
        }
        serde_json::Value::Array(elements) => elements.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

#[test]
fn the_committed_schemas_are_current() {
    for (name, schema) in [("scenario", scenario::schema()), ("target", target::schema())] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(format!("{name}.json"));
        let current = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
        if std::env::var_os("ONEJOB_UPDATE_EXPECTED").is_some() {
            fs::write(&path, &current).expect("the schema can be written");
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == current,
            "harness/schema/{name}.json is stale; `onejob schema {name}` prints the current one"
        );
    }
}

#[test]
fn the_schema_refuses_what_the_loader_refuses_as_unknown() {
    let schema = jsonschema::validator_for(&scenario::schema()).expect("the schema is one");
    let (name, text) =
        files("scenario/bad").into_iter().find(|(name, _)| name == "unknown-key.toml").expect("it is there");
    // Only a file whose matrix is in order gets as far as JSON; this one is.
    let file = scenario::load_str(&name, &text).expect("the mistake is in a step");
    assert!(!schema.is_valid(&file.to_json()));
}

#[test]
fn the_matrix_makes_a_cell_of_every_combination_that_is_not_left_out() {
    let file = good("cells.toml");
    let cells = file.cells().expect("it is good");
    let names: Vec<_> = cells.iter().map(Loaded::name).collect();
    assert_eq!(names, ["cells a=1 b=x", "cells a=1 b=y", "cells a=2 b=x"]);
    let first = &cells[0].scenario;
    assert_eq!(first.rounds, 7, "a text that is one placeholder takes the value's type");
    let rounds: Vec<_> = cells.iter().map(|cell| cell.scenario.rounds).collect();
    assert_eq!(rounds, [7, 8, 9], "a derived word may follow a second dimension by another one");
    assert_eq!(first.step[0].times, Some(1));
    assert_eq!(first.title, "One and x", "within a text it takes the value's words");
    let ids =
        |cell: &Loaded| cell.scenario.step.iter().filter_map(|step| step.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&cells[0]), ["s", "only-x", "end"]);
    assert_eq!(ids(&cells[1]), ["s", "end"]);
    assert_eq!(cells[0].scenario.witness.answered, ["s", "only-x"]);
    assert_eq!(
        cells[1].scenario.witness.answered,
        ["s"],
        "a witness on a step of other cells is not asked for"
    );
}

#[test]
fn lines_are_those_of_the_file_in_every_cell() {
    let text = fs::read_to_string(fixtures("scenario/good").join("cells.toml")).expect("it is there");
    let line_of = |needle: &str| {
        let at = text.lines().position(|line| line.contains(needle)).expect("the fixture says it");
        u32::try_from(at + 1).expect("a short file")
    };
    for cell in good("cells.toml").cells().expect("it is good") {
        let end = cell.scenario.step.len() - 1;
        assert_eq!(cell.lines.id(), line_of("id    = \"cells\""));
        assert_eq!(cell.lines.step(end), line_of("# the last step"));
        assert_eq!(cell.lines.invariant("jobs"), Some(line_of("jobs = ")));
        assert_eq!(cell.lines.invariant("calls"), None);
        assert_eq!(cell.lines.witness("answered"), Some(line_of("answered = ")));
        assert_eq!(cell.lines.rule(0), line_of("# the only rule"));
    }
}

fn good(name: &str) -> scenario::ScenarioFile {
    let text = fs::read_to_string(fixtures("scenario/good").join(name)).expect("it is there");
    scenario::load_str(name, &text).unwrap_or_else(|fault| panic!("{}", render(&fault, Look::default())))
}

#[test]
fn what_steps_imply_is_needed_without_being_named() {
    let needs: BTreeMap<String, BTreeSet<C>> = files("scenario/good")
        .iter()
        .flat_map(|(name, text)| load_scenario(name, text).expect("it is good"))
        .map(|cell| (cell.name(), cell.needs()))
        .collect();
    assert_eq!(needs["cells a=1 b=x"], BTreeSet::from([C::Read, C::Provider]));
    let all = BTreeSet::from([
        C::Read,
        C::Lookup,
        C::Attempts,
        C::Cancel,
        C::CancelAttempt,
        C::Resolve,
        C::Provider,
        C::Fallback,
        C::Callbacks,
        C::Race,
        C::Process,
        C::Replicas,
        C::Database,
        C::Owners,
        C::Audit,
        C::Batch,
        C::Schedule,
    ]);
    assert_eq!(needs["everything"], all);
}

#[test]
fn a_folder_is_searched_in_the_order_of_folders_and_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = fs::read_to_string(fixtures("scenario/good").join("cells.toml")).expect("it is there");
    for (file, id) in [
        ("b.toml", "two"),
        ("a/z.toml", "three"),
        ("a.toml", "one"),
        (".hidden/x.toml", "cells"),
        ("x.md", "x"),
    ] {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().expect("it has one")).expect("folders can be made");
        fs::write(path, text.replace("\"cells\"", &format!("\"{id}\""))).expect("files can be written");
    }
    let found = scenario::discover(folder.path()).expect("all are good");
    let ids: Vec<_> = found.iter().filter_map(scenario::ScenarioFile::id).collect();
    assert_eq!(ids, ["one", "two", "three"]);
    fs::write(folder.path().join("c.toml"), text.replace("\"cells\"", "\"one\""))
        .expect("files can be written");
    let fault = scenario::discover(folder.path()).expect_err("the id is taken");
    assert_eq!(fault.code(), Code::ScenarioTwice);
    assert!(fault.message().contains("a.toml"), "{fault}");
    assert!(fault.place().is_some_and(|place| place.text().name().ends_with("c.toml")));
}

#[test]
fn files_that_can_not_be_read_are_told_with_their_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let code = |fault: &Fault, path: &Path| {
        assert!(fault.message().contains(&path.display().to_string()), "{fault}");
        fault.code()
    };
    let missing = folder.path().join("missing.toml");
    assert_eq!(
        code(&scenario::discover(&missing).expect_err("nothing is there"), &missing),
        Code::ScenarioUnreadable
    );
    assert_eq!(
        code(&target::load_file(&missing).expect_err("nothing is there"), &missing),
        Code::TargetUnreadable
    );
    assert_eq!(
        code(&scenario::discover(folder.path()).expect_err("the folder is empty"), folder.path()),
        Code::ScenarioNowhere
    );
    let latin = folder.path().join("latin.toml");
    fs::write(&latin, b"id = \"caf\xe9\"").expect("files can be written");
    assert_eq!(code(&scenario::discover(&latin).expect_err("not UTF-8"), &latin), Code::ScenarioUnreadable);
}

#[test]
fn no_message_and_no_excerpt_shows_a_secret() {
    for (name, text) in files("target/bad").into_iter().chain(files("target/good")) {
        let shown = match load_target(&name, &text) {
            Ok(target) => format!("{:?}", target.hidden),
            Err(fault) => render(&fault, Look::default()) + &format!("{fault:?}"),
        };
        assert!(!shown.contains("s3cret-of-the-fixture"), "{name}: {shown}");
    }
}

#[test]
fn colours_are_there_only_when_asked_for() {
    let fault = load_scenario("x.toml", "id = 1").expect_err("it is broken");
    assert!(!render(&fault, Look::default()).contains('\u{1b}'));
    assert!(render(&fault, Look { color: true, ..Look::default() }).contains('\u{1b}'));
    assert!(render(&fault, Look { unicode: false, ..Look::default() }).is_ascii());
}
