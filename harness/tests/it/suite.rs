//! `onejob::Suite` in tests of Rust services.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Json, Router,
    extract::{Path as Segment, State},
    http::{HeaderMap, StatusCode},
    routing::{get, post},
};
use onejob::{Suite, suite::Failure};
use serde_json::{Value, json};

const TARGET: &str = r#"
[target]
name = "orders"
base = ["http://127.0.0.1:0"]
[target.submit]
request = "POST /orders"
headers = { idempotency-key = "{key}" }
json = { input = "{payload}" }
reads = { job = "/id", state = "/state" }
[target.read]
request = "GET /orders/{job}"
reads = { job = "/id", state = "/state" }
[target.states]
succeeded = ["done"]
[provider]
identity = "/client_reference"
"#;

/// A service that keeps orders by key, carefully or not.
struct Shop {
    careful: bool,
    provider: String,
    orders: tokio::sync::Mutex<BTreeMap<String, (Value, String)>>,
    known: Mutex<Vec<String>>,
}

async fn order(
    State(shop): State<Arc<Shop>>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> (StatusCode, Json<Value>) {
    let Some(key) = headers.get("idempotency-key").and_then(|key| key.to_str().ok()) else {
        return (StatusCode::BAD_REQUEST, Json(json!({ "type": "no-key" })));
    };
    let mut held = Some(shop.orders.lock().await);
    if let Some((first, id)) = held.as_ref().and_then(|orders| orders.get(key)) {
        return if *first == body {
            (StatusCode::OK, Json(json!({ "id": id, "state": "done" })))
        } else {
            (StatusCode::CONFLICT, Json(json!({ "type": "other-order" })))
        };
    }
    if !shop.careful {
        // Checked, then acted: whoever comes meanwhile finds nothing either.
        held = None;
    }
    let id = uuid::Uuid::new_v4().to_string();
    let call = json!({ "client_reference": id, "input": body["input"] });
    let answer = reqwest::Client::new().post(&shop.provider).json(&call).send().await;
    assert!(answer.is_ok_and(|answer| answer.status().is_success()), "the provider is there");
    shop.known.lock().unwrap_or_else(PoisonError::into_inner).push(id.clone());
    let entry = (body, id.clone());
    match &mut held {
        Some(orders) => drop(orders.insert(key.to_owned(), entry)),
        None => drop(shop.orders.lock().await.insert(key.to_owned(), entry)),
    }
    (StatusCode::CREATED, Json(json!({ "id": id, "state": "done" })))
}

async fn read(
    State(shop): State<Arc<Shop>>,
    Segment(id): Segment<String>,
) -> Result<Json<Value>, StatusCode> {
    let known = shop.known.lock().unwrap_or_else(PoisonError::into_inner).contains(&id);
    if known { Ok(Json(json!({ "id": id, "state": "done" }))) } else { Err(StatusCode::NOT_FOUND) }
}

fn suite(careful: bool) -> Suite {
    Suite::parse(TARGET).expect("a target").router(move |given| async move {
        let shop = Shop {
            careful,
            provider: given.provider("primary").expect("the double").to_owned(),
            orders: tokio::sync::Mutex::default(),
            known: Mutex::default(),
        };
        Router::new()
            .route("/orders", post(order))
            .route("/orders/{id}", get(read))
            .with_state(Arc::new(shop))
    })
}

#[tokio::test]
async fn a_careful_router_passes() -> Result<(), Failure> {
    let report = suite(true)
        .scenarios(["double-click clicks=8 gate=arrival", "key-reuse first_is=finished"])
        .run()
        .await?;
    assert!(report.run.cells.iter().any(|cell| cell.scenario == "double-click"), "{report}");
    assert!(report.to_string().contains("passed"), "{report}");
    Ok(())
}

#[tokio::test]
async fn a_careless_router_fails_with_the_report_in_the_test_s_own_output() {
    let failure = suite(false)
        .scenarios(["double-click clicks=8 gate=arrival"])
        .run()
        .await
        .expect_err("it is careless");
    let text = format!("{failure:?}");
    assert!(text.contains("FAIL") && text.contains("One intent (key K"), "{text}");
    assert!(text.contains("provider  call first"), "the timeline is missing in {text}");
    assert_eq!(failure.report().map(|report| report.run.cells.len()), Some(1));
}

#[tokio::test]
async fn what_can_not_be_run_says_why() {
    let nothing = suite(true).scenarios(["no-such-scenario"]).run().await.expect_err("nothing is selected");
    assert!(format!("{nothing:?}").contains("nothing is selected"), "{nothing:?}");
    let gone =
        Suite::parse(&TARGET.replace(":0", ":9")).expect("a target").scenarios(["double-click"]).run().await;
    assert!(format!("{:?}", gone.expect_err("nobody listens")).contains("OJ4004"));
    assert!(Suite::read(Path::new("nowhere.toml")).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_a_program_is_started_and_cleaned_up() -> Result<(), Failure> {
    let suite =
        Suite::new(onejob::target::reference()?).program(env!("CARGO_BIN_EXE_onejob")).postgres("local");
    let report = suite.scenarios(["double-click clicks=2 gate=lock"]).run().await?;
    assert_eq!(report.run.cells.len(), 1);
    Ok(())
}
