//! Axum routers as services.

use axum::Router;
use tokio::net::TcpListener;

use super::{Given, Hosted, Running, Suite};

impl Suite {
    /// Tests an axum [`Router`] in this process: `build` is called for each copy of the service, which gets a free port of
    /// its own. In the target file `base = ["http://127.0.0.1:0"]` stands for one copy, two such entries for two replicas
    /// over whatever `build` shares among them.
    ///
    /// ```
    /// use axum::{Json, Router, extract::Path, http::{HeaderMap, StatusCode}, routing::{get, post}};
    /// use serde_json::{Value, json};
    ///
    /// const TARGET: &str = r#"
    /// [target]
    /// name   = "shop"
    /// base   = ["http://127.0.0.1:0"]
    /// read   = { request = "GET /orders/{job}", reads = { job = "/id", state = "/state" } }
    /// states = { succeeded = ["done"] }
    ///
    /// [target.submit]
    /// request = "POST /orders"
    /// headers = { idempotency-key = "{key}" }
    /// json    = { input = "{payload}" }
    /// reads   = { job = "/id", state = "/state", problem = "/type" }
    /// "#;
    ///
    /// async fn submit(headers: HeaderMap) -> (StatusCode, Json<Value>) {
    ///     match headers.get("idempotency-key").and_then(|key| key.to_str().ok()) {
    ///         Some(key) => (StatusCode::CREATED, Json(json!({ "id": key, "state": "done" }))),
    ///         None => (StatusCode::BAD_REQUEST, Json(json!({ "type": "no-key" }))),
    ///     }
    /// }
    ///
    /// async fn read(Path(id): Path<String>) -> Json<Value> {
    ///     Json(json!({ "id": id, "state": "done" }))
    /// }
    ///
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// let suite = onejob::Suite::parse(TARGET)?.router(|_given| async {
    ///     Router::new().route("/orders", post(submit)).route("/orders/{id}", get(read))
    /// });
    /// let report = suite.scenarios(["key-missing"]).run().await?;
    /// assert_eq!(report.run.cells.len(), 1);
    /// # Ok::<_, onejob::suite::Failure>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn router<Made>(self, build: impl Fn(Given) -> Made + Send + Sync + 'static) -> Self
    where
        Made: Future<Output = Router> + Send + 'static,
    {
        self.hosted(Hosted::new(move |given| {
            let coming = build(given);
            async move {
                let router = coming.await;
                let listener = TcpListener::bind("127.0.0.1:0").await?;
                let address = listener.local_addr()?;
                let task = tokio::spawn(async move {
                    // It serves until the task is ended; what breaks before that breaks its answers.
                    let _ = axum::serve(listener, router).await;
                });
                Ok(Running::new(format!("http://{address}"), task))
            }
        }))
    }
}
