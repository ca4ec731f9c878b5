//! What it costs to tell one intent from another: reading a body strictly, its canonical form, the fingerprint.

use std::{hint::black_box, time::Duration};

use criterion::{BenchmarkId, Criterion, Throughput};
use onejob_reference::domain::{Intent, fingerprint, parse};

/// Members of the body's list, each about fifty bytes.
const MEMBERS: [usize; 3] = [1, 100, 10_000];

fn body(members: usize) -> Vec<u8> {
    let items: Vec<String> = (0..members)
        .map(|n| format!(r#"{{"sku":"A-{n}","quantity":{n},"price":{n}.25,"note":"é"}}"#))
        .collect();
    format!(r#"{{"kind":"order","input":{{"items":[{}]}}}}"#, items.join(",")).into_bytes()
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    let mut group = criterion.benchmark_group("fingerprint");
    for members in MEMBERS {
        let text = body(members);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("parse", members), &text, |bench, text| {
            bench.iter(|| parse(black_box(text)).expect("valid JSON"));
        });
        let json = parse(&text).expect("valid JSON");
        group.bench_with_input(BenchmarkId::new("fingerprint", members), &json, |bench, json| {
            bench.iter(|| {
                fingerprint(&Intent {
                    method: "POST",
                    route: "/v1/jobs",
                    path: "/v1/jobs",
                    query: "",
                    media_type: "application/json",
                    body: black_box(json),
                })
            });
        });
    }
    group.finish();
    criterion.final_summary();
}
