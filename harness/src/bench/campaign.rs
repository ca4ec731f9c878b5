//! A whole run: every point, repeat by repeat, each with what stands beside it.

use std::time::{Duration, Instant};

use onejob_reports::bench::Repeat;

use super::{
    Figures, Ledger, Load, Pace, Point, Work,
    arena::{Effort, Trouble},
    order,
};

/// A block shorter than that measures nothing.
const SHORTEST: Duration = Duration::from_millis(25);

/// Where blocks are played.
#[expect(async_fn_in_trait, reason = "only this program's own tasks wait for it")]
pub trait Venue {
    /// Plays one block.
    async fn play(&mut self, work: Work, contenders: u32, effort: Effort) -> Result<Figures, Trouble>;

    /// Plays the limit of the same block. So many of the same unit a second; or, in a sentence, why not.
    async fn limit(
        &mut self,
        work: Work,
        contenders: u32,
        effort: Effort,
    ) -> Result<Result<f64, String>, Trouble>;

    /// Whether there is a limit.
    fn has_limit(&self) -> bool;
}

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Repeats of every point.
    pub repeats: usize,
    /// Decisions of a block, or calls of each caller.
    pub count: i64,
    /// For everything together.
    pub time: Duration,
    /// How attempts follow each other.
    pub load: Load,
}

/// What became of a point.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// All its blocks together.
    pub ledger: Ledger,
    /// Its blocks.
    pub repeats: Vec<Repeat>,
    /// Why nothing stands beside it, where pgbench was there and failed.
    pub limit_failed: Option<String>,
    /// Turns of each contender in the last block.
    pub turns: i64,
}

/// What a run came to.
#[derive(Debug)]
pub struct Campaign {
    /// One for each point of the plan.
    pub measured: Vec<Measured>,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The repeat, from 1.
    pub repeat: usize,
    /// Blocks that are done.
    pub done: usize,
    /// Blocks in all.
    pub all: usize,
    /// What is measured now.
    pub now: String,
}

/// A point at which a run broke off.
#[derive(Debug, thiserror::Error)]
#[error("{point}: {trouble}")]
pub struct Broke {
    /// Where.
    pub point: String,
    /// Why.
    pub trouble: Trouble,
}

/// Measures. `stopped` is asked between blocks; `tell` hears where the run stands.
pub async fn campaign<V: Venue>(
    venues: &mut [V],
    points: &[Point],
    budget: Budget,
    stopped: &dyn Fn() -> bool,
    tell: &mut dyn FnMut(&Standing),
) -> Result<Campaign, Broke> {
    let deadline = Instant::now() + budget.time;
    let all = points.len() * budget.repeats;
    let mut run = Campaign { measured: vec![Measured::default(); points.len()], stopped: false };
    // Beside most blocks stand others as long.
    let share = budget.time / u32::try_from(3 * all.max(1)).unwrap_or(u32::MAX);
    let Budget { count, load, .. } = budget;
    let effort = Effort { count, within: share.max(SHORTEST), load, pace: Pace::Lockstep };
    let mut done = 0;
    for repeat in 0..budget.repeats {
        for index in order(points, repeat) {
            if stopped() {
                run.stopped = true;
                break;
            }
            if Instant::now() >= deadline {
                break;
            }
            let point = points[index];
            tell(&Standing { repeat: repeat + 1, done, all, now: point.to_string() });
            let broke = |trouble| Broke { point: point.to_string(), trouble };
            let measured = &mut run.measured[index];
            let pair = pair(&mut venues[point.arena], point, effort, repeat % 2 == 1, measured);
            pair.await.map_err(broke)?;
            done += 1;
        }
    }
    for (index, point) in points.iter().enumerate() {
        let plain = points.iter().position(|it| it.work.is_baseline() && it.stands_beside(point));
        let Some(plain) = plain.filter(|plain| *plain != index) else { continue };
        let rates: Vec<f64> = run.measured[plain].repeats.iter().map(|repeat| repeat.rate).collect();
        for (repeat, rate) in run.measured[index].repeats.iter_mut().zip(rates) {
            repeat.baseline_rate = Some(rate);
        }
    }
    Ok(run)
}

/// One block and the limit beside it, the limit first in every other repeat.
async fn pair<V: Venue>(
    arena: &mut V,
    point: Point,
    effort: Effort,
    limit_first: bool,
    into: &mut Measured,
) -> Result<(), Trouble> {
    let beside = effort.load == Load::Closed && arena.has_limit() && point.work.without_limit().is_none();
    let (mut own_pace_rate, mut limit_rate) = (None, None);
    // In the first repeat nobody knows yet how much there is time for.
    let limit_first = limit_first && into.turns > 0;
    if beside && limit_first {
        (own_pace_rate, limit_rate) = limit(arena, point, effort, into).await?;
    }
    let block = arena.play(point.work, point.contenders, effort).await?;
    into.turns = turns(&block, point);
    if beside && !limit_first {
        (own_pace_rate, limit_rate) = limit(arena, point, effort, into).await?;
    }
    into.ledger.add(&block);
    into.repeats.push(Repeat {
        rate: block.rate,
        own_pace_rate,
        limit_rate,
        baseline_rate: None,
        losers_p99_us: block.losers_p99(),
    });
    Ok(())
}

/// As many turns as there was time for: our own, where contenders raced in lockstep and pgbench's clients don't, and the limit.
async fn limit<V: Venue>(
    arena: &mut V,
    point: Point,
    effort: Effort,
    into: &mut Measured,
) -> Result<(Option<f64>, Option<f64>), Trouble> {
    let effort = Effort { count: into.turns.max(1), pace: Pace::Own, ..effort };
    let own = match point.work {
        Work::Decide(_) => Some(arena.play(point.work, point.contenders, effort).await?.rate),
        Work::Claim(..) | Work::Live(_) => None,
    };
    match arena.limit(point.work, point.contenders, effort).await? {
        Ok(rate) => Ok((own, Some(rate))),
        Err(why) => {
            into.limit_failed = Some(why);
            Ok((own, None))
        }
    }
}

/// Turns of each contender in a block: jobs, or calls of each caller.
fn turns(block: &Figures, point: Point) -> i64 {
    let each = match point.work {
        Work::Decide(_) => block.units,
        Work::Claim(..) | Work::Live(_) => block.units / u64::from(point.contenders),
    };
    i64::try_from(each).unwrap_or(i64::MAX)
}
