//! What the checker itself costs: samples a second and memory, against a provider that answers at once.
//!
//! `cargo run --release -p onejob-contracts --example overhead [SAMPLES]`. Exits with 1 below 2,000 samples a second or
//! when memory grows.
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use onejob_contracts::contract;
use onejob_contracts::dialect::Catalogue;
use onejob_contracts::provider::load_providers;
use onejob_contracts::run::{CheckOptions, Progress, SampleResult, check};
use onejob_contracts::transport::Http;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const CONTRACT: &str = r#"
name = "overhead"
[prompt]
messages = [{ role = "user", content = "{{ input.text }}" }]
[output]
inline_schema = { type = "object", properties = { vendor = { type = "string" }, total_cents = { type = "integer" }, due = { type = "string", format = "date" } }, required = ["vendor", "total_cents", "due"], additionalProperties = false }
[[case]]
name = "a"
input = { text = "ACME asks for 12.50 EUR." }
expect = [{ select = "$.total_cents", equals = 1250 }]
[[rule]]
name = "range"
cel = "output.total_cents > 0 && output.total_cents < 100000 && output.vendor.size() > 0"
[samples]
per_case = SAMPLES
concurrency = 16
[thresholds]
pass_rate = 0.9
"#;

const BODY: &str = r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"{\"vendor\":\"ACME\",\"total_cents\":1250,\"due\":\"2026-03-01\"}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}"#;

/// Samples after which connections, caches and the allocator have taken what they take once.
const SETTLED: u32 = 2_000;
/// What memory may grow by from there to the end.
const GROWTH_KIB: u64 = 4 * 1024;
/// Samples a second, at least.
const RATE: f64 = 2_000.0;

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let samples: u32 = std::env::args().nth(1).map_or(Ok(20_000), |text| text.parse())?;
    if samples < 2 * SETTLED {
        return Err(format!("at least {} samples, or nothing can be said about memory", 2 * SETTLED).into());
    }
    let folder = std::env::temp_dir().join(format!("onejob-overhead-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = measure(&folder, samples).await;
    std::fs::remove_dir_all(&folder)?;
    let (rate, memory) = measured?;
    let [start, middle, end] = memory.map(|at| at.load(Ordering::Relaxed));
    let cores = std::thread::available_parallelism()?;
    println!(
        "{samples} samples on {cores} cores: {rate:.0} a second, each with schema, expectation and CEL rule"
    );
    println!("resident memory in KiB: {start} after {SETTLED} samples, {middle} half-way, {end} at the end");
    let (fast, flat) = (rate >= RATE, end <= start + GROWTH_KIB);
    println!("rate {}, memory {}", if fast { "ok" } else { "too low" }, if flat { "flat" } else { "grows" });
    Ok(if fast && flat { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Samples a second, and memory at the start, in the middle and at the end.
async fn measure(folder: &Path, samples: u32) -> Result<(f64, [AtomicU64; 3]), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    let (providers, path) = (folder.join("providers.toml"), folder.join("contract.toml"));
    let entry = format!("[provider.p]\ndialect = \"openai-chat\"\nbase_url = \"{url}\"\nmodel = \"m\"\n");
    std::fs::write(&providers, entry)?;
    std::fs::write(&path, CONTRACT.replace("SAMPLES", &samples.to_string()))?;
    let contract = contract::load(&path)?;
    let provider = load_providers(&providers)?.remove("p").ok_or("no provider")?;
    let dialect = Catalogue::embedded()?.get(&provider.dialect)?;
    let watch = Watch { samples, done: AtomicU32::new(0), memory: [const { AtomicU64::new(0) }; 3] };
    let http = Arc::new(Http::keeping_connections(None)?);
    let started = Instant::now();
    let report = check(&contract, &provider, &dialect, http, CheckOptions::default(), &watch).await?;
    let rate = f64::from(samples) / started.elapsed().as_secs_f64();
    if !report.verdict.is_pass() || report.figures.passed != samples {
        return Err(format!("{}: {}", report.verdict, report.reason).into());
    }
    Ok((rate, watch.memory))
}

/// Looks at memory three times.
struct Watch {
    samples: u32,
    done: AtomicU32,
    memory: [AtomicU64; 3],
}

impl Progress for Watch {
    fn sample(&self, _result: &SampleResult) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(at) = [SETTLED, self.samples / 2, self.samples].iter().position(|at| *at == done) {
            self.memory[at].store(resident_kib().unwrap_or(0), Ordering::Relaxed);
        }
    }
}

fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

async fn serve(mut stream: TcpStream) {
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    let mut buffer = Vec::new();
    let mut piece = [0; 8192];
    loop {
        while let Some(end) = whole_request(&buffer) {
            buffer.drain(..end);
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return,
            Ok(count) => buffer.extend_from_slice(&piece[..count]),
        }
    }
}

/// Where the first request in `buffer` ends, if it is whole.
fn whole_request(buffer: &[u8]) -> Option<usize> {
    let head_end = buffer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&buffer[..head_end]).to_lowercase();
    let length: usize =
        head.lines().find_map(|line| line.strip_prefix("content-length:"))?.trim().parse().ok()?;
    (buffer.len() >= head_end + length).then_some(head_end + length)
}
