//! Services that speak TLS with a certificate of their own authority, in both versions of HTTP.

use std::{path::PathBuf, sync::Arc};

use axum::{
    Json, Router,
    http::StatusCode,
    routing::{get, post},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use onejob::gate::{Client, Origin, Prepared, Protocol, Timing, Trust, Unwatched, arrive_h1, arrive_h2};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use tokio::{
    net::TcpListener,
    time::{Duration, Instant},
};

use crate::support::onejob;

/// A service on `https://localhost`, and the file that holds its authority.
struct Service {
    base: String,
    ca: PathBuf,
    _folder: tempfile::TempDir,
}

async fn service() -> Service {
    onejob::prepare();
    let mut params = CertificateParams::new(Vec::new()).expect("parameters");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority =
        CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let certificate = CertificateParams::new(vec!["localhost".to_owned()])
        .and_then(|params| params.signed_by(&key, &authority))
        .expect("a certificate");
    let folder = tempfile::tempdir().expect("a folder");
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, authority.pem()).expect("a file");
    let chain = vec![CertificateDer::from(certificate.der().to_vec())];
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let mut config =
        rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).expect("a config");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let order = || async { Json(json!({ "id": "o-1", "state": "done" })) };
    let submit =
        |_: axum::body::Bytes| async { (StatusCode::CREATED, Json(json!({ "id": "o-1", "state": "done" }))) };
    let router = Router::new().route("/orders", post(submit)).route("/orders/{id}", get(order));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, router) = (acceptor.clone(), router.clone());
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let service = hyper_util::service::TowerToHyperService::new(router);
                let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    Service { base: format!("https://localhost:{port}"), ca, _folder: folder }
}

fn submit() -> Prepared {
    Prepared {
        method: "POST".to_owned(),
        path: "/orders".to_owned(),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: b"{}".to_vec(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn both_versions_of_http_go_through_and_arrive_together() {
    let service = service().await;
    for protocol in [Protocol::H1, Protocol::H2] {
        let trust = Trust { ca: Some(service.ca.clone()), protocol };
        let origin = Origin::trusting(&service.base, &trust).await.expect("a trusted service");
        assert!(origin.to_string().starts_with("https://localhost:"), "{origin}");
        let deadline = Instant::now() + Duration::from_secs(10);
        let answer =
            Client::new(origin.clone(), protocol).send(&submit(), deadline, || ()).await.expect("an answer");
        assert_eq!(answer.status, 201, "{protocol:?}");
        let requests = vec![submit(); 8];
        let arrival = match protocol {
            Protocol::H1 => arrive_h1(&origin, requests, Timing::default(), Unwatched::shared()).await,
            Protocol::H2 => arrive_h2(&origin, requests, Timing::default(), Unwatched::shared()).await,
        };
        let arrival = arrival.expect("a gate");
        assert_eq!((arrival.opening.waiting, arrival.opening.early), (8, 0), "{protocol:?}");
        assert!(
            arrival.outcomes.iter().all(|outcome| outcome.as_ref().is_ok_and(|answer| answer.status == 201))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_signed_the_certificate_has_to_be_trusted_and_the_name_has_to_be_its() {
    let service = service().await;
    let unknown = Origin::resolve(&service.base).await.expect_err("nobody vouches for it").to_string();
    assert!(unknown.contains("UnknownIssuer"), "{unknown}");
    let trust = Trust { ca: Some(service.ca.clone()), ..Trust::default() };
    let other = service.base.replace("localhost", "127.0.0.1");
    let other =
        Origin::trusting(&other, &trust).await.expect_err("the certificate is for another name").to_string();
    assert!(other.contains("TLS can't be spoken"), "{other}");
    let plain = Trust { ca: Some(service.ca.with_file_name("none.pem")), ..Trust::default() };
    let missing =
        Origin::trusting(&service.base, &plain).await.expect_err("there is no such file").to_string();
    assert!(missing.contains("none.pem"), "{missing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suite_runs_over_tls_in_both_protocols() {
    let service = service().await;
    let ca = std::fs::read_to_string(&service.ca).expect("the authority");
    for http in ["h1", "h2"] {
        let file = format!(
            r#"
            [target]
            name = "shop"
            base = ["{}"]
            http = "{http}"
            ca = "ca.pem"
            [target.submit]
            request = "POST /orders"
            headers = {{ idempotency-key = "{{key}}" }}
            json = {{ input = "{{payload}}" }}
            reads = {{ job = "/id", state = "/state" }}
            [target.read]
            request = "GET /orders/{{job}}"
            reads = {{ job = "/id", state = "/state" }}
            [target.states]
            succeeded = ["done"]
            "#,
            service.base
        );
        let run = tokio::task::spawn_blocking(move || {
            onejob(["run", "found-out", "--scenarios", "s.toml", "--target", "onejob.toml", "-v"])
        });
        let scenario = "id = \"found-out\"\ntitle = \"Two clicks\"\nwhy = \"It has to work.\"\n[[step]]\nid = \"s\"\n\
            do = \"submit\"\nwith = { key = \"K\", payload = \"P\" }\ntimes = 4\ntogether = true\ngate = \"arrival\"\n\
            expect = { status = [201] }\n[witness]\nraced = [\"s\"]\n";
        let program = run
            .await
            .expect("it is made")
            .file("onejob.toml", &file)
            .file("ca.pem", &ca)
            .file("s.toml", scenario);
        let outcome = tokio::task::spawn_blocking(move || program.run()).await.expect("it runs");
        outcome.exits(0).prints(&format!("gate=arrival-{http}"));
    }
}
