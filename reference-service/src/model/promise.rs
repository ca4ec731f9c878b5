use crate::domain::{AttemptState, JobState, Mode};

use super::{Try, World};

macro_rules! promises {
    ($( $(#[doc = $doc:literal])+ $name:ident => $words:literal, )+) => {
        /// What must hold in every world.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) enum Promise { $( $(#[doc = $doc])+ $name, )+ }

        impl Promise {
            /// Each, in the order in which they are looked at.
            pub(crate) const ALL: &'static [Self] = &[ $( Self::$name, )+ ];

            /// In a few words.
            pub(crate) const fn words(self) -> &'static str {
                match self { $( Self::$name => $words, )+ }
            }

            /// The property of the model.
            pub(crate) fn property<M: stateright::Model<State = World>>(self) -> stateright::Property<M> {
                match self { $(
                    Self::$name => stateright::Property::always($words, |_: &M, world: &World| world.broke != Some(Self::$name)),
                )+ }
            }
        }
    };
}

promises! {
    /// Whoever was told of a job has one.
    NoLostIntent => "no intent is lost",
    /// At most one effect for an exclusive job.
    OneEffect => "an exclusive job has at most one effect",
    /// An attempt is one request.
    OneCall => "one attempt is at most one call",
    /// One attempt wrote the result, and the job names it.
    OneWinner => "there is at most one winner",
    /// State, version and winner of a decided job stay.
    Final => "a decided job never changes",
    /// In exclusive mode.
    OneLive => "no attempt starts while another is live",
    /// "Failed" is said of nothing that had an effect or may yet have one.
    FailedIsTrue => "unknown never becomes failed without evidence",
    /// "Cancelled" likewise, unless somebody accepted it.
    CancelledIsTrue => "a cancelled job had no effect",
    /// An attempt that was decided over decides nothing.
    StaleIsDiscarded => "a stale result is discarded",
    /// An attempt that is live decides.
    LiveIsTaken => "the first live attempt home wins",
    /// As long as its worker is well.
    WorkIsKept => "work in progress is not taken away",
    /// Not whoever found its address.
    OnlyTheProvider => "only the provider reports for the provider",
    /// Each step without a fault leads towards the end, and none is missing before it.
    Progress => "without faults a job gets settled",
}

/// The first promise that a world breaks by what it is. Those about a step are noted where the step is made.
pub(crate) fn broken(world: &World) -> Option<Promise> {
    let Some(job) = &world.job else { return world.told.then_some(Promise::NoLostIntent) };
    let winners = job.attempts.iter().filter(|attempt| attempt.state == AttemptState::Succeeded);
    let winners: Vec<i32> = winners.map(|attempt| attempt.number).collect();
    let exclusive = job.mode == Mode::Exclusive;
    let failed_but_open = |number: i32| {
        let one = world.of(number);
        world.is_in(number, AttemptState::Failed) && one.may_have_effect()
    };
    // An attempt that somebody gave up with open eyes may still have its effect.
    let effect_possible = world.tries.iter().any(Try::may_have_effect);
    let checks = [
        (Promise::OneEffect, exclusive && world.effects > 1),
        (
            Promise::Final,
            world.decided.is_some_and(|decided| decided != (job.state, job.version, job.completed_by)),
        ),
        (Promise::OneWinner, winners != job.completed_by.into_iter().collect::<Vec<_>>()),
        (Promise::OneLive, exclusive && job.live().count() > 1),
        (
            Promise::FailedIsTrue,
            world.numbers().any(failed_but_open) || job.state == JobState::Failed && world.seen_before,
        ),
        (
            Promise::CancelledIsTrue,
            job.state == JobState::Cancelled && effect_possible && !world.risk_accepted,
        ),
    ];
    checks.into_iter().find_map(|(promise, broke)| broke.then_some(promise))
}
