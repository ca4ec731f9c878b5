//! How long the laws take over long histories, and whether that grows with their length alone.

use std::{collections::BTreeMap, hint::black_box, time::Instant};

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use onejob::{
    history::{Answer, Event, Kind},
    law::{View, decided_once, judge},
    scenario::Scenario,
};

/// Events of one job from its submit to its end: what a round of the double click looks like, with reads in between.
const PER_JOB: usize = 20;

/// Lengths of the histories. The last is what a night of traffic leaves.
const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

/// The most that all laws, and the decide-once law alone, may take over a million events.
const LIMITS: [(&str, f64); 2] = [("all-laws", 2.0), ("decided-once", 0.2)];

struct Tale {
    events: Vec<Event>,
}

impl Tale {
    fn tell(&mut self, kind: Kind) {
        let seq = self.events.len() as u64;
        self.events.push(Event { seq, at_us: seq * 50, round: 1, kind });
    }

    fn send(
        &mut self,
        request: u64,
        step: &str,
        verb: &str,
        key: Option<&str>,
        payload: Option<&str>,
        job: Option<&str>,
    ) {
        self.tell(Kind::Sent {
            request,
            step: step.to_owned(),
            verb: verb.to_owned(),
            owner: "alice".to_owned(),
            key: key.map(str::to_owned),
            payload: payload.map(str::to_owned),
            job: job.map(str::to_owned),
            line: "POST /v1/jobs".to_owned(),
            headers: BTreeMap::new(),
            body: None,
            replica: 1,
        });
    }
}

fn told(job: &str, state: &str) -> Answer {
    let over = state == "succeeded";
    Answer {
        status: 200,
        job: Some(job.to_owned()),
        state: Some(state.to_owned()),
        winner: over.then(|| "1".to_owned()),
        result: over.then(|| format!("answer of {job}")),
        version: Some(if over { "2" } else { "1" }.to_owned()),
        ..Answer::default()
    }
}

/// One round in which everything is well: many jobs, each clicked twice at once, read while it runs and afterwards.
fn history(events: usize) -> Vec<Event> {
    let mut tale = Tale { events: Vec::with_capacity(events + PER_JOB) };
    let mut request = 0;
    let mut call = 0;
    while tale.events.len() + PER_JOB < events {
        call += 1;
        let (job, key, payload) = (format!("job-{call:08}"), format!("K{call}"), format!("P{call}"));
        for click in 1..=2 {
            tale.send(request + click, &format!("click.{click}"), "submit", Some(&key), Some(&payload), None);
        }
        for click in 1..=2 {
            tale.tell(Kind::Answered { request: request + click, answer: told(&job, "accepted") });
        }
        tale.tell(Kind::Called {
            call,
            name: format!("rest.{call}"),
            reply: "hold".to_owned(),
            provider: "primary".to_owned(),
            identity: Some(job.clone()),
            attempt: Some("1".to_owned()),
            payload: Some(payload),
            traceparent: None,
        });
        for look in 3..=4 {
            tale.send(request + look, &format!("look.{look}"), "read", None, None, Some(&job));
            tale.tell(Kind::Answered { request: request + look, answer: told(&job, "running") });
        }
        tale.tell(Kind::Released { call });
        tale.tell(Kind::Effect { call });
        tale.tell(Kind::Replied { call, status: 200, text: Some(format!("answer of {job}")) });
        for look in 5..=7 {
            tale.send(request + look, &format!("look.{look}"), "read", None, None, Some(&job));
            tale.tell(Kind::Answered { request: request + look, answer: told(&job, "succeeded") });
        }
        tale.tell(Kind::Counted { owner: "alice".to_owned(), key, jobs: 1 });
        request += 7;
    }
    tale.tell(Kind::RoundEnded);
    tale.events
}

/// A scenario that asks for every law that is judged by counting, ordering or comparing.
fn scenario() -> Scenario {
    toml::from_str(
        r#"
        id    = "bench"
        title = "Every law"
        why   = "A night of traffic is judged before breakfast."

        [[step]]
        id     = "click"
        do     = "submit"
        with   = { key = "K", payload = "P" }
        expect = { status = [200] }

        [[step]]
        id     = "look"
        do     = "read"
        job    = "click"
        expect = { refused = false, same = ["job"], as = "look" }

        [invariants]
        jobs                    = { exactly = 1, per = "key" }
        calls                   = { exactly = 1, per = "key" }
        effects                 = { exactly = 1, per = "job" }
        winners                 = { exactly = 1, per = "job" }
        result_of_winner        = true
        path                    = ["accepted?", "running?", "succeeded"]
        decided_once            = true
        cancelled_had_no_effect = true
        identity                = true

        [witness]
        overlap  = ["click"]
        answered = ["click", "look"]
        "#,
    )
    .expect("the scenario is a valid one")
}

/// Measures once, outside criterion's statistics: what the limits are held against.
fn once(mut work: impl FnMut()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64()
}

fn main() {
    let scenario = scenario();
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    let histories: Vec<Vec<Event>> = SIZES.iter().map(|size| history(*size)).collect();
    let mut group = criterion.benchmark_group("history");
    for events in &histories {
        let length = events.len();
        group.throughput(Throughput::Elements(length as u64));
        group.bench_with_input(BenchmarkId::new("all-laws", length), events, |bench, events| {
            bench.iter_batched(
                || (),
                |()| black_box(judge(&scenario, &View::rounds(events))),
                BatchSize::PerIteration,
            );
        });
        let views = View::rounds(events);
        group.bench_with_input(BenchmarkId::new("decided-once", length), &views, |bench, views| {
            bench.iter(|| views.iter().map(decided_once).collect::<Vec<_>>());
        });
    }
    group.finish();
    drop(criterion);
    growth(&scenario, &histories);
}

/// Nanoseconds for each event by length, the ratio between the longest and the shortest, and the limits.
fn growth(scenario: &Scenario, histories: &[Vec<Event>]) {
    let mut late = Vec::new();
    for (name, limit) in LIMITS {
        let mut per_event = Vec::new();
        for events in histories {
            let views = View::rounds(events);
            let seconds = (0..3)
                .map(|_| match name {
                    "all-laws" => once(|| drop(black_box(judge(scenario, &View::rounds(events))))),
                    _ => once(|| drop(black_box(views.iter().map(decided_once).collect::<Vec<_>>()))),
                })
                .fold(f64::INFINITY, f64::min);
            #[expect(clippy::cast_precision_loss, reason = "far below 2^52 events")]
            let length = events.len() as f64;
            per_event.push(seconds * 1e9 / length);
            println!(
                "{name:>12}  {length:>9} events  {seconds:>8.4} s  {:>7.1} ns/event",
                seconds * 1e9 / length
            );
            if length > 900_000.0 && seconds > limit {
                late.push(format!("{name} took {seconds:.2} s and may take {limit} s"));
            }
        }
        let ratio = per_event.last().zip(per_event.first()).map_or(0.0, |(last, first)| last / first);
        println!("{name:>12}  time per event, longest over shortest: {ratio:.2}");
    }
    let judged = judge(scenario, &View::rounds(&histories[0]));
    println!("     verdict  {:?}", judged.verdict());
    // Quick runs (`cargo test --benches`) are not optimised, and say nothing about time.
    assert!(cfg!(debug_assertions) || late.is_empty(), "{}", late.join("; "));
}
