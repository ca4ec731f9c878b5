//! The provider double over real sockets, in both versions of HTTP.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use onejob::{
    double::{Callback, Double, DoubleError},
    gate::{Client, Lane, Origin, Outcome, Prepared, Protocol},
    history::{CallEnd, CallId, Kind, Lost, Recorder},
    scenario::{ProbeReply, Reply, Script, Span},
    target::ProviderSection,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, timeout},
};

const PROTOCOLS: [Protocol; 2] = [Protocol::H1, Protocol::H2];

/// Only a broken double lets a test wait this long.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

fn rule(call: &str, reply: Reply) -> Script {
    Script {
        call: call.to_owned(),
        reply,
        times: None,
        provider: None,
        payload: None,
        answer: None,
        status: None,
        headers: BTreeMap::new(),
        delay: None,
        probe: None,
    }
}

fn section() -> ProviderSection {
    ProviderSection {
        listen: "127.0.0.1:0".to_owned(),
        speaks: "plain".to_owned(),
        names: vec!["primary".to_owned(), "fallback".to_owned()],
        identity: Some("header:idempotency-key".to_owned()),
        callback_secret: None,
        attempt: Some("/attempt".to_owned()),
    }
}

fn markers(marker: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("P".to_owned(), marker.to_owned())])
}

struct Stage {
    double: Double,
    recorder: Arc<Recorder>,
}

impl Stage {
    async fn set(rules: Vec<Script>) -> Self {
        let recorder = Recorder::new();
        let section = section();
        let double = Double::start(&section.names, &section, Arc::clone(&recorder)).await.unwrap();
        double.script(1, rules, markers("marker-1")).unwrap();
        Self { double, recorder }
    }

    async fn client(&self, protocol: Protocol) -> Client {
        Client::new(Origin::resolve(&self.double.url("primary")).await.unwrap(), protocol)
    }

    async fn call(&self, protocol: Protocol) -> Outcome {
        self.client(protocol).await.send(&job(), soon(), || {}).await
    }

    /// A call whose caller waits in a task of its own; aborting the task is hanging up.
    async fn call_aside(&self, protocol: Protocol) -> tokio::task::JoinHandle<Outcome> {
        let client = self.client(protocol).await;
        tokio::spawn(async move { client.send(&job(), soon(), || {}).await })
    }

    async fn seen<T>(&self, mut wanted: impl FnMut(&Kind) -> Option<T>) -> T {
        self.recorder
            .wait_for(soon(), |events| events.iter().find_map(|event| wanted(&event.kind)))
            .await
            .unwrap_or_else(|_| panic!("it did not happen: {:#?}", self.recorder.events()))
    }

    async fn called(&self, wanted: &str) -> CallId {
        self.seen(|kind| match kind {
            Kind::Called { call, name, .. } if name == wanted => Some(*call),
            _ => None,
        })
        .await
    }

    async fn ended(&self, wanted: CallId) -> CallEnd {
        self.seen(|kind| match kind {
            Kind::CallEnded { call, how } if *call == wanted => Some(*how),
            _ => None,
        })
        .await
    }

    async fn replied(&self, wanted: CallId) -> (u16, Option<String>) {
        self.seen(|kind| match kind {
            Kind::Replied { call, status, text } if *call == wanted => Some((*status, text.clone())),
            _ => None,
        })
        .await
    }

    fn effects(&self) -> usize {
        self.recorder
            .look(|events| events.iter().filter(|event| matches!(event.kind, Kind::Effect { .. })).count())
    }

    /// The history of a call in one word each.
    fn story(&self, of: CallId) -> Vec<&'static str> {
        self.recorder.look(|events| {
            events
                .iter()
                .filter_map(|event| match &event.kind {
                    Kind::Called { call, .. } if *call == of => Some("called"),
                    Kind::Effect { call } if *call == of => Some("effect"),
                    Kind::Released { call } if *call == of => Some("released"),
                    Kind::Replied { call, .. } if *call == of => Some("replied"),
                    Kind::CallEnded { call, .. } if *call == of => Some("ended"),
                    _ => None,
                })
                .collect()
        })
    }
}

fn job() -> Prepared {
    job_of("marker-1")
}

fn job_of(marker: &str) -> Prepared {
    Prepared {
        method: "POST".to_owned(),
        path: "/".to_owned(),
        headers: vec![
            ("Idempotency-Key".to_owned(), "job-1".to_owned()),
            ("traceparent".to_owned(), "00-abc-def-01".to_owned()),
        ],
        body: json!({ "client_reference": "job-1", "attempt": 2, "input": marker }).to_string().into_bytes(),
    }
}

fn body(outcome: &Outcome) -> Value {
    serde_json::from_slice(&outcome.as_ref().unwrap().body).unwrap()
}

#[tokio::test]
async fn a_success_is_called_then_effective_then_replied() {
    for protocol in PROTOCOLS {
        let stage = Stage::set(vec![rule("A", Reply::Succeed)]).await;
        let answer = stage.call(protocol).await;
        assert_eq!(body(&answer), json!({"result": "answer-A", "reference": "call-1"}));
        assert_eq!(stage.replied(1).await, (200, Some("answer-A".to_owned())));
        assert_eq!(stage.story(1), ["called", "effect", "replied"]);
    }
}

#[tokio::test]
async fn a_call_is_recorded_with_all_that_it_carries() {
    let stage = Stage::set(vec![rule("A", Reply::EffectThenError)]).await;
    stage.call(Protocol::H1).await.unwrap();
    let called = stage.seen(|kind| matches!(kind, Kind::Called { .. }).then(|| kind.clone())).await;
    let expected = Kind::Called {
        call: 1,
        name: "A".to_owned(),
        reply: "effect-then-error".to_owned(),
        provider: "primary".to_owned(),
        identity: Some("job-1".to_owned()),
        attempt: Some("2".to_owned()),
        payload: Some("P".to_owned()),
        traceparent: Some("00-abc-def-01".to_owned()),
    };
    assert_eq!(called, expected);
    assert_eq!(stage.recorder.events()[0].round, 1);
}

#[tokio::test]
async fn answered_replies_give_the_status_the_text_and_the_effect_that_they_promise() {
    let given = Script {
        status: Some(429),
        headers: BTreeMap::from([("retry-after".to_owned(), "1".to_owned())]),
        ..rule("A", Reply::Status)
    };
    let refused = Script { status: Some(404), ..rule("A", Reply::Fail) };
    let bodiless = Script { status: Some(204), ..rule("A", Reply::Status) };
    for protocol in PROTOCOLS {
        for (script, status, text, effects) in [
            (rule("A", Reply::Succeed), 200, Some("answer-A"), 1),
            (rule("A", Reply::Forbid), 200, Some("answer-A"), 1),
            (Script { answer: Some("hi".to_owned()), ..rule("A", Reply::Succeed) }, 200, Some("hi"), 1),
            (rule("A", Reply::Fail), 422, None, 0),
            (refused.clone(), 404, None, 0),
            (rule("A", Reply::Garbage), 200, None, 1),
            (rule("A", Reply::Status), 500, None, 0),
            (given.clone(), 429, None, 0),
            (bodiless.clone(), 204, None, 0),
            (rule("A", Reply::EffectThenError), 500, None, 1),
            (rule("A", Reply::Accept), 202, None, 1),
            (rule("A", Reply::Duplicate), 409, None, 0),
        ] {
            let reply = script.reply;
            let stage = Stage::set(vec![script]).await;
            let answer = stage.call(protocol).await.unwrap_or_else(|loss| panic!("{reply:?}: {loss}"));
            assert_eq!(answer.status, status, "{reply:?} {protocol:?}");
            assert_eq!(stage.replied(1).await, (status, text.map(str::to_owned)), "{reply:?}");
            assert_eq!(stage.effects(), effects, "{reply:?}");
            if status == 429 {
                assert_eq!(answer.header("retry-after"), Some("1"));
            }
        }
    }
}

#[tokio::test]
async fn a_failure_says_why_in_the_providers_words() {
    let stage = Stage::set(vec![rule("A", Reply::Fail), rule("B", Reply::Duplicate)]).await;
    assert_eq!(body(&stage.call(Protocol::H1).await)["error"]["code"], "rejected");
    assert_eq!(body(&stage.call(Protocol::H1).await)["error"]["code"], "duplicate_request");
}

#[tokio::test]
async fn swallow_and_stall_differ_in_the_effect_and_in_nothing_that_the_caller_sees() {
    for protocol in PROTOCOLS {
        for (reply, effects) in [(Reply::Swallow, 1), (Reply::Stall, 0)] {
            let stage = Stage::set(vec![rule("A", reply)]).await;
            let client = stage.client(protocol).await;
            let patience = Instant::now() + Duration::from_millis(400);
            let loss = client.send(&job(), patience, || {}).await.unwrap_err();
            assert_eq!(loss.how, Lost::Timeout);
            assert_eq!(stage.ended(1).await, CallEnd::CallerGone, "{reply:?} {protocol:?}");
            assert_eq!(stage.effects(), effects, "{reply:?}");
        }
    }
}

#[tokio::test]
async fn a_caller_that_hangs_up_on_a_held_call_is_noticed_at_once() {
    for protocol in PROTOCOLS {
        let stage = Stage::set(vec![rule("A", Reply::Hold)]).await;
        let caller = stage.call_aside(protocol).await;
        let call = stage.called("A").await;
        caller.abort();
        assert_eq!(stage.ended(call).await, CallEnd::CallerGone, "{protocol:?}");
        assert_eq!(stage.story(call), ["called", "ended"]);
        let late = stage.double.release(1, "A").unwrap_err();
        assert!(matches!(late, DoubleError::NotHeld { .. }), "{late}");
    }
}

#[tokio::test]
async fn a_caller_that_resets_its_connection_is_noticed_too() {
    let stage = Stage::set(vec![rule("A", Reply::Stall)]).await;
    let mut caller = TcpStream::connect(stage.double.address()).await.unwrap();
    caller.set_zero_linger().unwrap();
    caller.write_all(b"POST /primary HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
    let call = stage.called("A").await;
    drop(caller);
    assert_eq!(stage.ended(call).await, CallEnd::CallerGone);
}

#[tokio::test]
async fn a_held_call_succeeds_or_fails_when_it_is_released_and_not_before() {
    for protocol in PROTOCOLS {
        for (reply, status, story) in [
            (Reply::Hold, 200, &["called", "released", "effect", "replied"][..]),
            (Reply::HoldFail, 422, &["called", "released", "replied"]),
        ] {
            let stage = Stage::set(vec![rule("A", reply)]).await;
            let early = stage.double.release(1, "A").unwrap_err();
            assert!(matches!(early, DoubleError::NotCalled { .. }), "{early}");
            let caller = stage.call_aside(protocol).await;
            let call = stage.called("A").await;
            stage.double.release(1, "A").unwrap();
            assert_eq!(caller.await.unwrap().unwrap().status, status);
            stage.replied(call).await;
            assert_eq!(stage.story(call), story, "{reply:?} {protocol:?}");
        }
    }
}

#[tokio::test]
async fn calls_released_together_are_all_released_before_any_is_answered() {
    let stage = Stage::set(vec![rule("A", Reply::Hold), rule("B", Reply::Hold)]).await;
    let callers = [stage.call_aside(Protocol::H1).await, stage.call_aside(Protocol::H2).await];
    stage.called("A").await;
    stage.called("B").await;
    stage.double.release_together(1, &["A".to_owned(), "B".to_owned()]).unwrap();
    for caller in callers {
        assert_eq!(caller.await.unwrap().unwrap().status, 200);
    }
    stage.replied(1).await;
    stage.replied(2).await;
    let places = |wanted: fn(&Kind) -> bool| {
        let events = stage.recorder.events();
        events.into_iter().filter(|event| wanted(&event.kind)).map(|event| event.seq).collect::<Vec<_>>()
    };
    let released = places(|kind| matches!(kind, Kind::Released { .. }));
    let effects = places(|kind| matches!(kind, Kind::Effect { .. }));
    assert_eq!(released.len(), 2);
    assert!(released[1] < effects[0]);
}

#[tokio::test]
async fn a_reset_reaches_the_caller_as_one_after_the_effect() {
    for protocol in PROTOCOLS {
        let stage = Stage::set(vec![rule("A", Reply::Reset)]).await;
        let loss = stage.call(protocol).await.unwrap_err();
        assert_eq!(loss.how, Lost::Reset, "{loss}");
        assert_eq!(stage.ended(1).await, CallEnd::Reset);
        assert_eq!(stage.story(1), ["called", "effect", "ended"]);
    }
}

#[tokio::test]
async fn a_truncated_answer_breaks_off_in_its_body() {
    let stage = Stage::set(vec![rule("A", Reply::Truncate)]).await;
    let mut caller = TcpStream::connect(stage.double.address()).await.unwrap();
    caller.write_all(b"POST /primary HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
    let mut all = String::new();
    timeout(Duration::from_secs(10), caller.read_to_string(&mut all)).await.unwrap().unwrap();
    let (head, body) = all.split_once("\r\n\r\n").unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let length: usize = length.parse().unwrap();
    assert!(head.starts_with("HTTP/1.1 200"));
    assert_eq!(body.len(), length.div_ceil(2), "{all}");
    assert_eq!(stage.ended(1).await, CallEnd::Truncated);

    let stage = Stage::set(vec![rule("A", Reply::Truncate)]).await;
    assert_eq!(stage.call(Protocol::H2).await.unwrap_err().how, Lost::Reset);
    assert_eq!(stage.ended(1).await, CallEnd::Truncated);
    assert_eq!(stage.story(1), ["called", "effect", "ended"]);
}

/// More than any pair of socket buffers takes, so it can't be out while nobody reads.
const HUGE: usize = 24 * 1024 * 1024;

fn long(bytes: usize) -> Script {
    Script { answer: Some("x".repeat(bytes)), ..rule("A", Reply::Succeed) }
}

#[tokio::test]
async fn an_answer_that_the_caller_does_not_take_was_not_replied() {
    let stage = Stage::set(vec![long(HUGE)]).await;
    let mut caller = TcpStream::connect(stage.double.address()).await.unwrap();
    caller.write_all(b"POST /primary HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
    let mut first = [0; 100];
    caller.read_exact(&mut first).await.unwrap();
    drop(caller);
    assert_eq!(stage.ended(1).await, CallEnd::CallerGone);
    assert_eq!(stage.story(1), ["called", "effect", "ended"]);
}

#[tokio::test]
async fn a_stream_given_up_within_its_answer_was_not_replied() {
    let stage = Stage::set(vec![long(HUGE), rule("B", Reply::Succeed)]).await;
    let mut lane = stage.client(Protocol::H2).await.connect(soon()).await.unwrap();
    {
        // The caller leaves while the connection stays: only the stream is reset.
        let job = job();
        let receiving = lane.send(&job, soon(), || {});
        tokio::pin!(receiving);
        let called = stage.seen(|kind| matches!(kind, Kind::Effect { .. }).then_some(()));
        tokio::select! {
            outcome = &mut receiving => panic!("{outcome:?}"),
            () = called => {}
        }
    }
    assert_eq!(stage.ended(1).await, CallEnd::CallerGone);
    assert_eq!(lane.send(&job(), soon(), || {}).await.unwrap().status, 200);
    assert_eq!(stage.story(1), ["called", "effect", "ended"]);
}

#[tokio::test]
async fn an_answer_of_many_windows_that_is_taken_is_replied() {
    for protocol in PROTOCOLS {
        let stage = Stage::set(vec![long(1024 * 1024)]).await;
        let answer = stage.call(protocol).await.unwrap();
        assert!(answer.body.len() > 1024 * 1024);
        assert_eq!(stage.replied(1).await.0, 200);
    }
}

#[tokio::test]
async fn a_slow_answer_comes_whole_to_the_patient_and_its_effect_happens_for_the_impatient_too() {
    let slow = |delay| Script { delay: Some(Span(Duration::from_millis(delay))), ..rule("A", Reply::Slow) };
    for protocol in PROTOCOLS {
        let stage = Stage::set(vec![slow(120)]).await;
        let began = Instant::now();
        let answer = stage.call(protocol).await.unwrap();
        assert!(began.elapsed() >= Duration::from_millis(100), "{:?}", began.elapsed());
        assert!(answer.done_at - answer.first_byte_at >= Duration::from_millis(80));
        assert_eq!(stage.replied(1).await, (200, Some("answer-A".to_owned())));

        let stage = Stage::set(vec![slow(60_000)]).await;
        let caller = stage.call_aside(protocol).await;
        stage.seen(|kind| matches!(kind, Kind::Effect { .. }).then_some(())).await;
        caller.abort();
        assert_eq!(stage.ended(1).await, CallEnd::CallerGone);
    }
}

#[tokio::test]
async fn one_connection_carries_one_call_after_the_other() {
    for protocol in PROTOCOLS {
        let stage = Stage::set(vec![rule("A", Reply::Succeed), rule("rest", Reply::Fail)]).await;
        let mut lane: Lane = stage.client(protocol).await.connect(soon()).await.unwrap();
        for status in [200, 422, 422] {
            assert_eq!(lane.send(&job(), soon(), || {}).await.unwrap().status, status);
        }
        assert_eq!(stage.replied(3).await.0, 422);
        stage.called("rest.2").await;
    }
}

#[tokio::test]
async fn streams_of_one_connection_end_each_for_itself() {
    let stage = Stage::set(vec![rule("A", Reply::Hold), rule("B", Reply::Hold)]).await;
    let socket = TcpStream::connect(stage.double.address()).await.unwrap();
    let (send, connection) = h2::client::handshake(socket).await.unwrap();
    let driver = tokio::spawn(connection);
    let mut send = send.ready().await.unwrap();
    let mut call = || {
        let head = http::Request::post("http://x/primary").body(()).unwrap();
        send.send_request(head, true).unwrap().0
    };
    let first = call();
    stage.called("A").await;
    let second = call();
    stage.called("B").await;
    drop(first);
    assert_eq!(stage.ended(1).await, CallEnd::CallerGone);
    stage.double.release(1, "B").unwrap();
    assert_eq!(second.await.unwrap().status(), 200);
    stage.replied(2).await;
    driver.abort();
}

#[tokio::test]
async fn a_request_that_never_came_whole_is_no_call() {
    let stage = Stage::set(vec![rule("A", Reply::Succeed)]).await;
    let mut caller = TcpStream::connect(stage.double.address()).await.unwrap();
    caller.write_all(b"POST /primary HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{}").await.unwrap();
    drop(caller);
    // The next call is the first.
    stage.call(Protocol::H1).await.unwrap();
    stage.replied(1).await;
    stage.double.finish().await;
    assert_eq!(stage.story(1), ["called", "effect", "replied"]);
    assert_eq!(stage.story(2), [] as [&str; 0]);
}

#[tokio::test]
async fn the_end_of_the_cell_ends_every_call_that_is_out() {
    let stage = Stage::set(vec![
        rule("A", Reply::Hold),
        rule("B", Reply::Swallow),
        Script { delay: Some(Span(Duration::from_mins(1))), ..rule("C", Reply::Slow) },
    ])
    .await;
    let mut callers = Vec::new();
    for (protocol, name) in [(Protocol::H1, "A"), (Protocol::H2, "B"), (Protocol::H1, "C")] {
        callers.push(stage.call_aside(protocol).await);
        stage.called(name).await;
    }
    stage.double.finish().await;
    let ends = stage.recorder.look(|events| {
        events
            .iter()
            .filter_map(|event| match event.kind {
                Kind::CallEnded { how, .. } => Some(how),
                _ => None,
            })
            .collect::<Vec<_>>()
    });
    assert_eq!(ends, [CallEnd::Abandoned; 3]);
    for caller in callers {
        assert!(caller.await.unwrap().is_err());
    }
    stage.double.finish().await;
}

#[tokio::test]
async fn a_round_that_is_over_leaves_the_calls_of_others_alone() {
    let stage = Stage::set(vec![rule("A", Reply::Hold)]).await;
    let first = stage.call_aside(Protocol::H1).await;
    stage.called("A").await;
    stage.double.script(2, vec![rule("A", Reply::Hold)], markers("marker-2")).unwrap();
    let client = stage.client(Protocol::H1).await;
    let second = tokio::spawn(async move { client.send(&job_of("marker-2"), soon(), || {}).await });
    stage.seen(|kind| matches!(kind, Kind::Called { call: 2, .. }).then_some(())).await;
    stage.double.abandon(1);
    assert_eq!(stage.ended(1).await, CallEnd::Abandoned);
    assert!(first.await.unwrap().is_err());
    stage.double.release(2, "A").unwrap();
    assert_eq!(second.await.unwrap().unwrap().status, 200);
    stage.replied(2).await;
    let rounds = stage.recorder.look(|events| {
        events
            .iter()
            .filter(|event| matches!(event.kind, Kind::Called { .. }))
            .map(|event| event.round)
            .collect::<Vec<_>>()
    });
    assert_eq!(rounds, [1, 2]);
}

async fn probe(stage: &Stage, reference: &str) -> (u16, Value) {
    let request = Prepared {
        method: "GET".to_owned(),
        path: format!("?client_reference={reference}"),
        ..Prepared::default()
    };
    let answer = stage.client(Protocol::H1).await.send(&request, soon(), || {}).await.unwrap();
    (answer.status, serde_json::from_slice(&answer.body).unwrap())
}

#[tokio::test]
async fn a_probe_is_told_the_truth_unless_the_script_says_otherwise() {
    let told = |reply, probe| Script { probe, ..rule("A", reply) };
    for (script, status, expected, recorded) in [
        (told(Reply::EffectThenError, None), 200, json!("succeeded"), "succeeded"),
        (told(Reply::Status, None), 404, Value::Null, "not-found"),
        (told(Reply::Status, Some(ProbeReply::Succeeded)), 200, json!("succeeded"), "succeeded"),
        (told(Reply::Succeed, Some(ProbeReply::Failed)), 200, json!("failed"), "failed"),
        (told(Reply::Succeed, Some(ProbeReply::Pending)), 200, json!("pending"), "pending"),
        (told(Reply::Succeed, Some(ProbeReply::NotFound)), 404, Value::Null, "not-found"),
        (told(Reply::Succeed, Some(ProbeReply::Error)), 500, Value::Null, "error"),
    ] {
        let stage = Stage::set(vec![script.clone()]).await;
        stage.call(Protocol::H1).await.unwrap();
        let (got, body) = probe(&stage, "job%2D1").await;
        assert_eq!((got, &body["status"]), (status, &expected), "{script:?}");
        if recorded == "succeeded" {
            assert_eq!(body["result"], "answer-A");
        }
        let event = stage.seen(|kind| matches!(kind, Kind::Probed { .. }).then(|| kind.clone())).await;
        assert_eq!(event, Kind::Probed { identity: "job-1".to_owned(), answer: recorded.to_owned() });
    }
}

#[tokio::test]
async fn a_probe_about_a_job_that_the_provider_never_saw_finds_nothing() {
    let stage = Stage::set(vec![]).await;
    assert_eq!(probe(&stage, "job-9").await.0, 404);
    let at_other = Prepared {
        method: "GET".to_owned(),
        path: "?client_reference=job-1".to_owned(),
        ..Prepared::default()
    };
    stage.call(Protocol::H1).await.unwrap();
    let fallback = Client::new(Origin::resolve(&stage.double.url("fallback")).await.unwrap(), Protocol::H1);
    assert_eq!(fallback.send(&at_other, soon(), || {}).await.unwrap().status, 404);
    assert_eq!(probe(&stage, "job-1").await.0, 200);
}

#[tokio::test]
async fn a_callback_tells_the_outcome_and_is_the_same_event_each_time() {
    let stage =
        Stage::set(vec![rule("A", Reply::Accept), rule("B", Reply::Fail), rule("C", Reply::Stall)]).await;
    let accepted = stage.call(Protocol::H1).await;
    assert_eq!(body(&accepted)["status"], "accepted");
    let callback = stage.double.callback(1, "A").unwrap();
    let told = |callback: &Callback| serde_json::from_str::<Value>(&callback.body).unwrap();
    let expected = json!({
        "event_id": callback.event_id, "client_reference": "job-1", "attempt": 2, "reference": body(&accepted)["reference"],
        "status": "succeeded", "result": "answer-A",
    });
    assert_eq!(told(&callback), expected);
    assert_eq!(stage.double.callback(1, "A").unwrap(), callback);

    stage.call(Protocol::H1).await.unwrap();
    let failed = stage.double.callback(1, "B").unwrap();
    assert_eq!((&told(&failed)["status"], told(&failed).get("result")), (&json!("failed"), None));
    assert_ne!(failed.event_id, callback.event_id);

    let caller = stage.call_aside(Protocol::H1).await;
    stage.called("C").await;
    assert!(matches!(stage.double.callback(1, "C"), Err(DoubleError::NoOutcome { .. })));
    assert!(matches!(stage.double.callback(1, "D"), Err(DoubleError::NotCalled { .. })));
    caller.abort();
}

#[tokio::test]
async fn requests_that_are_neither_calls_nor_probes_are_kept_as_strays() {
    let stage = Stage::set(vec![]).await;
    let elsewhere = Origin::resolve(&format!("http://{}", stage.double.address())).await.unwrap();
    let client = Client::new(elsewhere, Protocol::H1);
    assert_eq!(client.send(&job(), soon(), || {}).await.unwrap().status, 404);
    let health = Prepared { method: "GET".to_owned(), path: "/primary".to_owned(), ..Prepared::default() };
    assert_eq!(client.send(&health, soon(), || {}).await.unwrap().status, 400);
    let strays = stage.double.strays();
    assert_eq!(strays.len(), 2);
    assert!(strays[0].contains("no provider"), "{strays:?}");
    assert!(stage.recorder.events().is_empty());
}

#[tokio::test]
async fn a_double_that_cannot_be_is_refused_with_what_to_do() {
    let started = async |section: ProviderSection| {
        Double::start(&section.names, &section, Recorder::new()).await.unwrap_err().to_string()
    };
    let taken = Stage::set(vec![]).await;
    let listen = taken.double.address().to_string();
    let words = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    for (section, says) in [
        (ProviderSection { speaks: "morse".to_owned(), ..section() }, "speaks `plain`"),
        (ProviderSection { listen: "localhost".to_owned(), ..section() }, "IP:PORT"),
        (ProviderSection { listen, ..section() }, "free port"),
        (ProviderSection { names: words(&["a/b"]), ..section() }, "a/b"),
        (ProviderSection { names: words(&["a", "a"]), ..section() }, "each name once"),
        (ProviderSection { names: words(&[]), ..section() }, "at least one"),
        (ProviderSection { identity: Some("job.id".to_owned()), ..section() }, "JSON Pointer"),
    ] {
        let error = started(section).await;
        assert!(error.contains(says), "{error}");
    }
    let broken = taken.double.script(
        1,
        vec![Script { status: Some(99), ..rule("A", Reply::Status) }],
        BTreeMap::new(),
    );
    assert!(matches!(broken, Err(DoubleError::BadRule { .. })));
}
