//! The gate, as the job service asks it.

use jiff::{SignedDuration, Timestamp};
use onejob_contracts::attest::{Attested, Baseline, SigningKey, TrustedKeys};
use onejob_contracts::contract::Digests;
use onejob_contracts::dialect::ErrorClass;
use onejob_contracts::gate::{
    Attestation, Attestations, JobFacts, Question, Refusal, Rejected, Suspension, Trigger, may_fail_over,
};
use onejob_contracts::run::{Figures, ProviderFacts};

struct Scene {
    job: JobFacts,
    attestations: Attestations,
    now: Timestamp,
}

fn now() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

fn facts(name: &str) -> ProviderFacts {
    ProviderFacts {
        name: name.into(),
        dialect: "plain".into(),
        endpoint: format!("http://{name}"),
        model: "m".into(),
        models_reported: vec!["m-2026".into()],
        ..ProviderFacts::default()
    }
}

impl Scene {
    fn new() -> Self {
        let mut digests = Digests::default();
        digests.add("contract", b"c");
        digests.add("prompt", b"p");
        let job = JobFacts {
            contract: "invoice".into(),
            digests: digests.clone(),
            dialect: "plain".into(),
            endpoint: "http://b".into(),
            model: "m".into(),
            failover_on: vec![ErrorClass::Throttled],
            bar: 0.9,
            ..JobFacts::default()
        };
        let attested = Attested {
            contract: "invoice".into(),
            digests,
            provider: facts("b"),
            baseline: Baseline { provider: facts("a"), figures: Figures::default(), report: String::new() },
            figures: Figures { lower_bound: 0.92, ..Figures::default() },
            fields: Vec::new(),
            replayed: false,
            issued: now() - SignedDuration::from_hours(1),
            expires: now() + SignedDuration::from_hours(1),
            tool: "0".into(),
        };
        let mut attestations = Attestations::default();
        attestations.good.push(Attestation { attested, key_id: "k".into(), file: "f".into() });
        Self { job, attestations, now: now() }
    }

    fn ask(&self, trigger: Trigger) -> Result<(), Refusal> {
        self.ask_as("a", "b", None, trigger)
    }

    fn ask_as(&self, from: &str, to: &str, model: Option<&str>, trigger: Trigger) -> Result<(), Refusal> {
        let question = Question {
            from,
            to,
            job: &self.job,
            attestations: &self.attestations,
            now: self.now,
            model_reported: model,
            trigger,
        };
        may_fail_over(&question).map(|_| ())
    }

    fn code(&self) -> &'static str {
        self.ask(Trigger::InAdvance).map_or_else(|refusal| refusal.code(), |()| "yes")
    }

    fn attested(&mut self) -> &mut Attested {
        &mut self.attestations.good[0].attested
    }
}

#[test]
fn a_sound_attestation_permits() {
    assert_eq!(Scene::new().code(), "yes");
}

#[test]
fn each_thing_that_is_missing_is_named() {
    type Change = fn(&mut Scene);
    let changes: [(&str, Change); 13] = [
        ("no_attestation", |scene| scene.attestations.good.clear()),
        ("no_attestation", |scene| scene.attested().contract = "other".into()),
        ("no_attestation", |scene| scene.attested().provider.name = "c".into()),
        ("other_baseline", |scene| scene.attested().baseline.provider.name = "c".into()),
        ("expired", |scene| scene.attested().expires = now()),
        ("not_yet", |scene| scene.attested().issued = now() + SignedDuration::from_mins(3)),
        ("changed", |scene| scene.job.digests.add("prompt", b"q")),
        ("changed", |scene| scene.job.digests.add("template", b"t")),
        ("changed", |scene| scene.job.model = "n".into()),
        ("changed", |scene| scene.job.endpoint = "http://c".into()),
        ("changed", |scene| {
            scene.job.parameters.insert("temperature".into(), 1.into());
        }),
        ("below_bar", |scene| scene.job.bar = 0.95),
        ("suspended", |scene| {
            scene.attestations.suspended.push(Suspension {
                contract: "invoice".into(),
                provider: "b".into(),
                since: now(),
                reason: "drift".into(),
            });
        }),
    ];
    for (at, (code, change)) in changes.into_iter().enumerate() {
        let mut scene = Scene::new();
        change(&mut scene);
        assert_eq!(scene.code(), code, "change {at}");
        let refusal = scene.ask(Trigger::InAdvance).unwrap_err();
        assert!(refusal.to_string().len() > 15, "{refusal}");
    }
}

#[test]
fn the_changed_part_is_named_and_not_only_the_file_that_it_is_in() {
    let mut scene = Scene::new();
    scene.job.digests.add("contract", b"changed");
    scene.job.digests.add("prompt", b"changed");
    assert_eq!(scene.ask(Trigger::InAdvance), Err(Refusal::Changed { what: "prompt".into() }));
}

#[test]
fn only_definite_failures_that_the_contract_lists_move_a_job() {
    let scene = Scene::new();
    let table = [
        (Trigger::InAdvance, "yes"),
        (Trigger::NeverSent, "yes"),
        (Trigger::Failed(ErrorClass::Throttled), "yes"),
        (Trigger::Failed(ErrorClass::Overloaded), "not_a_trigger"),
        (Trigger::Failed(ErrorClass::Auth), "not_a_trigger"),
        (Trigger::Failed(ErrorClass::InvalidRequest), "not_a_trigger"),
        (Trigger::Failed(ErrorClass::Billing), "not_a_trigger"),
        (Trigger::Failed(ErrorClass::WrongSurface), "not_a_trigger"),
        (Trigger::Failed(ErrorClass::FilteredPrompt), "not_a_trigger"),
        (Trigger::Failed(ErrorClass::ContextOverflow), "not_a_trigger"),
        (Trigger::Failed(ErrorClass::ServerError), "unknown_outcome"),
        (Trigger::Failed(ErrorClass::Timeout), "unknown_outcome"),
        (Trigger::Failed(ErrorClass::RejectedOutput), "unknown_outcome"),
        (Trigger::Unknown, "unknown_outcome"),
        (Trigger::AfterFirstByte, "after_first_byte"),
    ];
    for (trigger, expected) in table {
        let found = scene.ask(trigger).map_or_else(|refusal| refusal.code(), |()| "yes");
        assert_eq!(found, expected, "{trigger:?}");
    }
}

#[test]
fn an_unknown_outcome_never_moves_a_job_even_if_the_contract_lists_it() {
    let mut scene = Scene::new();
    scene.job.failover_on = vec![ErrorClass::Timeout, ErrorClass::ServerError];
    for class in [ErrorClass::Timeout, ErrorClass::ServerError] {
        assert_eq!(scene.ask(Trigger::Failed(class)), Err(Refusal::UnknownOutcome));
    }
}

#[test]
fn a_model_that_was_not_attested_is_refused() {
    let scene = Scene::new();
    assert!(scene.ask_as("a", "b", Some("m-2026"), Trigger::InAdvance).is_ok());
    let refusal = scene.ask_as("a", "b", Some("m-2027"), Trigger::InAdvance).unwrap_err();
    assert_eq!(refusal.code(), "model_drift");
    assert_eq!(scene.ask_as("b", "a", None, Trigger::InAdvance).unwrap_err().code(), "no_attestation");
}

#[test]
fn a_newer_attestation_lifts_a_suspension_and_an_older_one_does_not() {
    let mut scene = Scene::new();
    let since = now() - SignedDuration::from_mins(90);
    scene.attestations.suspended.push(Suspension {
        contract: "invoice".into(),
        provider: "b".into(),
        since,
        reason: "drift".into(),
    });
    assert_eq!(scene.code(), "yes");
    scene.attested().issued = now() - SignedDuration::from_hours(2);
    assert_eq!(scene.code(), "suspended");
}

#[test]
fn a_damaged_file_says_why_instead_of_that_there_is_none() {
    let mut scene = Scene::new();
    scene.attestations.good.clear();
    scene.attestations.bad.push(Rejected {
        file: "invoice.a.b.attestation.json".into(),
        reason: "changed after it was signed".into(),
    });
    let refusal = scene.ask(Trigger::InAdvance).unwrap_err();
    assert_eq!(refusal.code(), "untrusted");
    assert!(refusal.to_string().contains("changed after it was signed"));
}

#[test]
fn a_folder_is_read_again_when_it_changed_and_a_damaged_suspension_is_no_permission() {
    let folder = tempfile::tempdir().unwrap();
    let (_, public) = SigningKey::generate().unwrap();
    let mut keys = TrustedKeys::default();
    keys.add(&public, "test").unwrap();
    let empty = Attestations::load(folder.path(), &keys).unwrap();
    assert!(!empty.is_stale(folder.path()));
    std::fs::write(folder.path().join("invoice.a.b.attestation.json"), "{}").unwrap();
    assert!(empty.is_stale(folder.path()));
    let read = Attestations::load(folder.path(), &keys).unwrap();
    assert_eq!((read.good.len(), read.bad.len()), (0, 1));
    std::fs::write(folder.path().join("invoice.b.suspended.json"), "{").unwrap();
    assert!(Attestations::load(folder.path(), &keys).is_err());
    assert!(Attestations::load(&folder.path().join("nowhere"), &keys).unwrap().good.is_empty());
}

#[test]
fn asking_costs_microseconds() {
    let scene = Scene::new();
    let started = std::time::Instant::now();
    for _ in 0..10_000 {
        assert!(scene.ask(Trigger::Failed(ErrorClass::Throttled)).is_ok());
    }
    // A hundred times what it takes, so that a busy machine does not matter.
    assert!(started.elapsed() < std::time::Duration::from_secs(10), "{:?}", started.elapsed());
}
