//! A sweep: one undisturbed rehearsal, which finds the points at which the service changes its database, then a round
//! for each of them, in which the service is killed there and started anew.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::oneshot;

use super::{round::Round, world::World};
use crate::{
    fail::{Code, Fault},
    fault::{Moment, Point, Tap},
    history::Kind,
    law::{self, View},
    scenario::{KillMoment, Scenario, Sweep},
};

/// The kill's name in the history.
pub(crate) const KILL: &str = "kill";
/// The only replica of a sweep's world.
const REPLICA: u32 = 1;

/// Plays a cell's rehearsal and its share of the kills. A broken promise ends it: the other points are worth their time
/// only when this one has been mended.
pub(super) async fn sweep<'s>(
    world: &Arc<World>,
    scenario: &'s Scenario,
    planned: &Sweep,
    rounds: &(dyn Fn(u32) -> Result<Round<'s>, Fault> + Sync),
) -> Result<(), Fault> {
    let Some(tap) = world.tap.clone() else {
        return Err(Fault::new(
            Code::Bug,
            "a sweep was planned for a target whose database we don't have",
            "please report this with the target file",
        ));
    };
    tap.begin();
    rounds(1)?.play().await?;
    let points = tap.points();
    let mine = share(&points, planned.share().unwrap_or((1, 1)));
    let count = |points: usize| u32::try_from(points).unwrap_or(u32::MAX);
    world.recorder.record(1, Kind::Rehearsed { found: count(points.len()), share: count(mine.len()) });
    let moment = match planned.kill {
        KillMoment::Before => Moment::Before,
        KillMoment::After => Moment::After,
    };
    let mut waiting: VecDeque<(Point, bool)> = mine.into_iter().map(|point| (point, true)).collect();
    let mut number = 1;
    while let Some((point, first_try)) = waiting.pop_front() {
        number += 1;
        let round = rounds(number)?;
        let side = if moment == Moment::Before { "before" } else { "after" };
        let detail = format!("the service was killed (SIGKILL) {side} {point}, and started anew");
        let struck = tap.halt_at(point.clone(), moment);
        let executioner = tokio::spawn(execute(world.clone(), tap.clone(), number, detail, struck));
        let played = round.play().await;
        tap.take_back();
        let hit = executioner.await.map_err(|error| {
            Fault::new(Code::Bug, format!("a sweep's task broke: {error}"), "please report this")
        })??;
        played?;
        if !hit && first_try {
            // Two plays differ a little, by the order of what goes on at the same time.
            waiting.push_back((point, false));
        }
        let view = world.recorder.look(|events| View::of(number, events));
        if law::judge(scenario, &[view]).is_broken() {
            break;
        }
    }
    Ok(())
}

/// Every `of`-th point, so that each share has some of each part of the story.
fn share(points: &[Point], (which, of): (usize, usize)) -> Vec<Point> {
    points.iter().skip(which - 1).step_by(of).cloned().collect()
}

/// Kills the service as soon as the conversation halts, and starts it anew. False when the halt is taken back.
async fn execute(
    world: Arc<World>,
    tap: Arc<Tap>,
    round: u32,
    detail: String,
    struck: oneshot::Receiver<()>,
) -> Result<bool, Fault> {
    if struck.await.is_err() {
        return Ok(false);
    }
    world.outage.send_replace(true);
    world.recorder.record(round, Kind::FaultApplied { fault: KILL.to_owned(), detail: detail.clone() });
    let done = async {
        world.kill(REPLICA).await?;
        world.recorder.record(round, Kind::FaultHit { fault: KILL.to_owned(), detail });
        tap.go_on();
        world.start(REPLICA, None).await
    };
    let done = done.await;
    // Whoever waits learns by the next request that there is no service, where it could not be started.
    world.outage.send_replace(false);
    done.map(|()| true)
}
