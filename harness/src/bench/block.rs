//! A block: contenders go through the same jobs in the same order.
//!
//! In lockstep all of them are let go at a job at the same moment, which is what a burst of clicks or of late answers is. At
//! their own pace the first one mostly finds a job free and the others find it decided: little contention, but that is how
//! pgbench's clients go through the same script, so it is what can be held against them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::Barrier;

use super::{Attempt, Contender, Shape};

/// How attempts follow each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// The next begins when the last has ended.
    Closed,
    /// So many jobs a second are due, whether the last has ended or not.
    Open(f64),
}

/// How contenders keep together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Nobody begins a job before all have ended the last one.
    Lockstep,
    /// Each begins the next when its last has ended.
    Own,
}

impl Load {
    /// When something is due, from the beginning of its block; nothing where it is due when there is time for it.
    #[must_use]
    pub fn due(self, index: i64) -> Option<Duration> {
        match self {
            Self::Closed => None,
            #[expect(clippy::cast_precision_loss, reason = "blocks are short")]
            Self::Open(rate) => Some(Duration::from_secs_f64(index as f64 / rate)),
        }
    }
}

/// Which jobs, and how long at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block {
    /// The number before the first job.
    pub before: i64,
    /// How many jobs.
    pub count: i64,
    /// Time after which no new job is begun.
    pub within: Duration,
    /// How attempts follow each other.
    pub load: Load,
    /// How contenders keep together.
    pub pace: Pace,
}

/// What all share during a block.
struct Course {
    block: Block,
    shape: Shape,
    start: Barrier,
    /// The highest job that anybody began.
    front: AtomicI64,
    /// The last job that is to be begun.
    last: AtomicI64,
}

/// Lets the contenders race through a block. They come back with everything that they attempted.
pub async fn race(contenders: Vec<Contender>, shape: Shape, block: Block) -> (Vec<Contender>, Vec<Attempt>) {
    let course = Arc::new(Course {
        block,
        shape,
        start: Barrier::new(contenders.len()),
        front: AtomicI64::new(block.before),
        last: AtomicI64::new(block.before + block.count),
    });
    let began = Instant::now();
    let running: Vec<_> = contenders
        .into_iter()
        .map(|contender| tokio::spawn(run(contender, Arc::clone(&course), began)))
        .collect();
    let mut back = Vec::new();
    let mut attempts = Vec::new();
    for task in running {
        match task.await {
            Ok((contender, made)) => {
                back.push(contender);
                attempts.extend(made);
            }
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // Only an ending runtime gives tasks up.
            Err(_) => {}
        }
    }
    (back, attempts)
}

async fn run(mut contender: Contender, course: Arc<Course>, began: Instant) -> (Contender, Vec<Attempt>) {
    let block = course.block;
    let mut made = Vec::with_capacity(usize::try_from(block.count).unwrap_or_default());
    course.start.wait().await;
    for job in block.before + 1..=block.before + block.count {
        let due = block.load.due(job - block.before - 1);
        if let Some(due) = due {
            tokio::time::sleep_until((began + due).into()).await;
        }
        if began.elapsed() > block.within {
            course.last.fetch_min(course.front.load(Ordering::SeqCst), Ordering::SeqCst);
        }
        if block.pace == Pace::Lockstep {
            course.start.wait().await;
        }
        // A job that this one begins as another ends the block is attempted by a few alone, and counts for nothing.
        if job > course.last.load(Ordering::SeqCst) {
            break;
        }
        course.front.fetch_max(job, Ordering::SeqCst);
        let began_ns = nanos(began.elapsed());
        let (end, retries) = contender.attempt(&course.shape, job).await;
        made.push(Attempt {
            contender: contender.number,
            job,
            due_ns: due.map_or(began_ns, nanos),
            began_ns,
            ended_ns: nanos(began.elapsed()),
            end,
            retries,
        });
    }
    contender.flush_statistics().await;
    (contender, made)
}

pub(super) fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
