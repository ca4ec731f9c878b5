//! What it costs to make requests arrive together: one opening of the arrival gate, by number of requests and way.

use std::{hint::black_box, net::SocketAddr, time::Duration};

use axum::{Router, body::Bytes};
use criterion::{BenchmarkId, Criterion, Throughput};
use onejob::gate::{Origin, Prepared, Timing, Unwatched, arrive_h1, arrive_h2};
use tokio::{net::TcpListener, runtime::Runtime};

const REQUESTS: [usize; 3] = [2, 8, 32];

/// A service that reads a request as a whole and answers it.
async fn start() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        // It never ends by itself.
        let _ = axum::serve(listener, Router::new().fallback(async |_: Bytes| "{}")).await;
    });
    address
}

fn requests(count: usize) -> Vec<Prepared> {
    let request = Prepared {
        method: "POST".to_owned(),
        path: "/".to_owned(),
        body: vec![b'x'; 128],
        ..Prepared::default()
    };
    vec![request; count]
}

fn main() {
    let runtime: Runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let origin = runtime.block_on(async {
        let address = start().await;
        Origin::resolve(&format!("http://{address}")).await.expect("an origin")
    });
    // The wait for answers that come too early is what the gate is for, and no cost of it.
    let timing = Timing { settle: Duration::from_millis(1), ..Timing::default() };
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    let mut group = criterion.benchmark_group("arrival");
    for count in REQUESTS {
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("h1", count), |bench| {
            bench.iter(|| {
                let arrived =
                    runtime.block_on(arrive_h1(&origin, requests(count), timing, Unwatched::shared()));
                black_box(arrived.expect("the gate opens"))
            });
        });
        group.bench_function(BenchmarkId::new("h2", count), |bench| {
            bench.iter(|| {
                let arrived =
                    runtime.block_on(arrive_h2(&origin, requests(count), timing, Unwatched::shared()));
                black_box(arrived.expect("the gate opens"))
            });
        });
    }
    group.finish();
    criterion.final_summary();
}
