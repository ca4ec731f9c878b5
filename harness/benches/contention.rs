//! What a decision costs by strategy and contenders, and a claim by form and share of duplicates, on a private Postgres in
//! memory. Needs Postgres' programs on this machine; says so and measures nothing without them.
//!
//! Each iteration is one decision of a job that all contenders try at the same moment, or one call. A block that is unsound
//! (two winners, a lost decision, no contention) panics instead of giving a figure.

use std::{hint::black_box, path::Path, time::Duration};

use criterion::{BenchmarkId, Criterion, Throughput};
use onejob::{
    bench::{Arena, ClaimForm, Effort, Load, Pace, Setup, Strategy, Venue as _, Work},
    leash::Leash,
    postgres::{Databases, Server, Source, StartOptions, local_programs},
};
use tokio::runtime::Runtime;

const CONTENDERS: [u32; 5] = [1, 2, 8, 32, 64];
const DUPLICATES: [f64; 3] = [0.0, 50.0, 99.0];
const CALLERS: u32 = 16;
/// A block is finished, however long it takes.
const WITHIN: Duration = Duration::from_mins(1);
/// Fewer calls than that have no duplicates to speak of.
const FEWEST_TURNS: u64 = 25;

struct Ring {
    runtime: Runtime,
    arena: Arena,
    // They end with this.
    _databases: Databases,
    _server: Server,
}

impl Ring {
    fn open() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let (arena, databases, server) = runtime.block_on(async {
            let leash = Leash::start(Path::new(env!("CARGO_BIN_EXE_onejob"))).expect("a watchdog");
            let options = StartOptions::default();
            let server = Server::start(&Source::Local, &options, &leash, &|line: &str| eprintln!("{line}"));
            let server = server.await.expect("a private server");
            let databases = Databases::open(&server, &leash, 0).await.expect("databases");
            let database = databases.empty().await.expect("a database");
            let setup = Setup { cluster: "scratch", ours: true, most: 64, rows: 20_000, limit: false };
            let arena = Arena::open(&database.url, setup).await.expect("tables");
            (arena, databases, server)
        });
        Self { runtime, arena, _databases: databases, _server: server }
    }

    /// The time that so many decisions or calls take.
    fn time(&mut self, work: Work, contenders: u32, iterations: u64) -> Duration {
        let each = match work {
            Work::Claim(..) => iterations.div_ceil(u64::from(contenders)).max(FEWEST_TURNS),
            _ => iterations,
        };
        let count = i64::try_from(each).expect("criterion asks for few");
        let effort = Effort { count, within: WITHIN, load: Load::Closed, pace: Pace::Lockstep };
        let played = self.runtime.block_on(self.arena.play(work, contenders, effort));
        let figures = played.unwrap_or_else(|trouble| panic!("no figure for {work:?}: {trouble}"));
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        Duration::from_secs_f64(iterations as f64 / black_box(figures.rate))
    }
}

fn main() {
    if !local_programs() {
        eprintln!(
            "contention: no Postgres programs on this machine (apt install postgresql), so nothing is measured"
        );
        return;
    }
    let mut ring = Ring::open();
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(700))
        .configure_from_args();
    let mut group = criterion.benchmark_group("decide");
    group.throughput(Throughput::Elements(1));
    for contenders in CONTENDERS {
        for strategy in Strategy::SOUND {
            group.bench_function(BenchmarkId::new(strategy.name(), contenders), |bench| {
                bench.iter_custom(|iterations| ring.time(Work::Decide(strategy), contenders, iterations));
            });
        }
    }
    group.finish();
    let mut group = criterion.benchmark_group("claim");
    group.throughput(Throughput::Elements(1));
    for percent in DUPLICATES {
        for form in ClaimForm::SOUND {
            group.bench_function(BenchmarkId::new(form.name(), format!("{percent}%")), |bench| {
                bench.iter_custom(|iterations| ring.time(Work::Claim(form, percent), CALLERS, iterations));
            });
        }
    }
    group.finish();
    criterion.final_summary();
}
