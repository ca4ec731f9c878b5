//! Whether a block may be spoken of: every job decided once, by the one who was told so, and not without a contest.

use std::collections::{BTreeMap, HashMap};

use super::{Attempt, End};

/// What the database has of a job after the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decided {
    /// Which.
    pub job: i64,
    /// Who decided it.
    pub by: u32,
    /// How often its row was decided.
    pub times: u64,
}

/// Why a block gives no figure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsound {
    /// Two were told that they won.
    #[error(
        "job {job} was decided by contender {first} and by contender {second}: both were told that they won"
    )]
    TwoWinners {
        /// Which job.
        job: i64,
        /// One.
        first: u32,
        /// The other.
        second: u32,
    },
    /// The row was written more than once.
    #[error("job {job} was decided {times} times over")]
    DecidedAgain {
        /// Which job.
        job: i64,
        /// How often.
        times: u64,
    },
    /// All tried, and nobody did.
    #[error("job {job} was left undecided although all contenders tried")]
    Lost {
        /// Which job.
        job: i64,
    },
    /// Who was told is not whom the database names.
    #[error("contender {told} was told that it won job {job}, and the database names {stands:?}")]
    Overwritten {
        /// Which job.
        job: i64,
        /// Who was told.
        told: u32,
        /// Who stands there.
        stands: Option<u32>,
    },
    /// Somebody lost before anybody could have won.
    #[error("contender {loser} was told that job {job} is decided before anybody had begun to decide it")]
    LostToNobody {
        /// Which job.
        job: i64,
        /// Who.
        loser: u32,
    },
    /// A call had no answer that names a row.
    #[error("a call with key {key} was told of no job")]
    Untold {
        /// Which key.
        key: String,
    },
    /// Two calls with one key were told of different rows.
    #[error("calls with key {key} were told of jobs {first} and {second}")]
    TwoJobs {
        /// Which key.
        key: String,
        /// One.
        first: i64,
        /// The other.
        second: i64,
    },
    /// A row is missing, or there that nobody was told of.
    #[error("key {key} has {rows} rows and {creators} callers who were told that they made one")]
    Creators {
        /// Which key.
        key: String,
        /// Rows in the database.
        rows: usize,
        /// Callers.
        creators: usize,
    },
    /// A service told two callers with one key of different jobs.
    #[error("the service told callers with key {key} of job {first} and of job {second}")]
    KeyWithTwoJobs {
        /// Which key.
        key: String,
        /// One.
        first: String,
        /// The other.
        second: String,
    },
    /// A service told callers with different keys of one job.
    #[error("the service told callers with keys {first} and {second} of one job, {job}")]
    JobOfTwoKeys {
        /// Which job.
        job: String,
        /// One key.
        first: String,
        /// The other.
        second: String,
    },
    /// A job whose work succeeded ended in another way.
    #[error("job {job} ended as {state}, although its work succeeded")]
    EndedOtherwise {
        /// Which job.
        job: String,
        /// How.
        state: String,
    },
    /// The work of a job was done more than once.
    #[error("the work of job {job} was done {times} times")]
    Effects {
        /// Which job, as the provider was told.
        job: String,
        /// How often.
        times: u32,
    },
    /// They were never at one job at the same time.
    #[error(
        "of {jobs} jobs only {contested} were contested by two at the same time: what was measured is not contention"
    )]
    NoContention {
        /// Jobs in the block.
        jobs: usize,
        /// Contested ones.
        contested: usize,
    },
    /// Nothing was finished in time.
    #[error("nothing was finished within the time of a block")]
    Nothing,
}

impl Unsound {
    /// Whether it was the service under test that broke a promise.
    #[must_use]
    pub const fn is_of_the_target(&self) -> bool {
        matches!(
            self,
            Self::KeyWithTwoJobs { .. }
                | Self::JobOfTwoKeys { .. }
                | Self::EndedOtherwise { .. }
                | Self::Effects { .. }
        )
    }

    /// Whether a promise broke. Otherwise the situation wasn't produced.
    #[must_use]
    pub const fn is_broken(&self) -> bool {
        !matches!(self, Self::NoContention { .. } | Self::Nothing)
    }
}

/// What a sound block is made of.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sound {
    /// The attempts at jobs that all contenders attempted.
    pub attempts: Vec<Attempt>,
    /// How many jobs these are.
    pub jobs: usize,
    /// How many others were out while a job was decided, on average.
    pub overlap: f64,
    /// Nanoseconds in which somebody was at a job, job by job: without the pauses between them.
    pub busy_ns: u64,
    /// Nanoseconds from the first beginning to the last end.
    pub span_ns: u64,
}

/// Nanoseconds from the first beginning to the last end.
pub(super) fn span_ns(attempts: &[Attempt]) -> u64 {
    let began = attempts.iter().map(|attempt| attempt.began_ns).min().unwrap_or_default();
    let ended = attempts.iter().map(|attempt| attempt.ended_ns).max().unwrap_or_default();
    ended - began
}

/// Judges a block. `racing` is whether the contenders were meant to be at each job together.
pub fn judge(
    attempts: &[Attempt],
    decided: &[Decided],
    contenders: usize,
    racing: bool,
) -> Result<Sound, Unsound> {
    let stands: HashMap<i64, &Decided> = decided.iter().map(|it| (it.job, it)).collect();
    let mut jobs: BTreeMap<i64, Vec<&Attempt>> = BTreeMap::new();
    for attempt in attempts {
        jobs.entry(attempt.job).or_default().push(attempt);
    }
    let mut sound = Sound::default();
    let (mut contested, mut others) = (0, 0);
    for (job, tries) in jobs {
        let winner = one_winner(job, &tries, stands.get(&job).copied(), tries.len() == contenders)?;
        if tries.len() < contenders {
            continue;
        }
        let beside = winner.map_or(0, |winner| {
            tries.iter().filter(|other| other.contender != winner.contender && other.overlaps(winner)).count()
        });
        contested += usize::from(beside > 0);
        others += beside;
        sound.jobs += 1;
        let tries: Vec<Attempt> = tries.into_iter().copied().collect();
        sound.busy_ns += span_ns(&tries);
        sound.attempts.extend(tries);
    }
    if sound.jobs == 0 {
        return Err(Unsound::Nothing);
    }
    // A tenth of the jobs: what is rarer is no contention that anybody would measure by.
    if racing && contenders > 1 && contested * 10 < sound.jobs {
        return Err(Unsound::NoContention { jobs: sound.jobs, contested });
    }
    sound.span_ns = span_ns(&sound.attempts);
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    {
        sound.overlap = others as f64 / sound.jobs as f64;
    }
    Ok(sound)
}

/// The attempt that decided a job: the only one that was told so, or the one that the database names when that one's answer
/// was lost.
fn one_winner<'a>(
    job: i64,
    tries: &[&'a Attempt],
    stands: Option<&Decided>,
    all_tried: bool,
) -> Result<Option<&'a Attempt>, Unsound> {
    let mut told = tries.iter().filter(|attempt| attempt.end == End::Won);
    let winner = told.next();
    if let (Some(first), Some(second)) = (winner, told.next()) {
        let (first, second) = (first.contender, second.contender);
        return Err(Unsound::TwoWinners { job, first, second });
    }
    if let Some(stands) = stands.filter(|stands| stands.times != 1) {
        return Err(Unsound::DecidedAgain { job, times: stands.times });
    }
    let by = stands.map(|stands| stands.by);
    if let Some(told) = winner.map(|winner| winner.contender).filter(|told| by != Some(*told)) {
        return Err(Unsound::Overwritten { job, told, stands: by });
    }
    if by.is_none() && all_tried {
        return Err(Unsound::Lost { job });
    }
    let winner = winner.or_else(|| {
        tries.iter().find(|attempt| attempt.end == End::Unknown && by == Some(attempt.contender))
    });
    if let Some(winner) = winner
        && let Some(early) = tries.iter().find(|it| it.end == End::Lost && it.ended_ns < winner.began_ns)
    {
        return Err(Unsound::LostToNobody { job, loser: early.contender });
    }
    Ok(winner.copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(contender: u32, end: End, began_ns: u64, ended_ns: u64) -> Attempt {
        Attempt { contender, job: 1, due_ns: began_ns, began_ns, ended_ns, end, retries: 0 }
    }

    fn stands(by: u32) -> Vec<Decided> {
        vec![Decided { job: 1, by, times: 1 }]
    }

    #[test]
    fn a_contested_job_with_one_winner_is_sound() {
        let tries =
            [attempt(0, End::Won, 0, 10), attempt(1, End::Lost, 5, 12), attempt(2, End::Busy, 11, 13)];
        let sound = judge(&tries, &stands(0), 3, true).expect("sound");
        assert_eq!((sound.jobs, sound.attempts.len()), (1, 3));
        assert!((sound.overlap - 1.0).abs() < 1e-9, "the third came too late to contend: {}", sound.overlap);
    }

    #[test]
    fn every_way_to_break_the_promise_is_noticed() {
        let won = attempt(0, End::Won, 0, 10);
        let two = judge(&[won, attempt(1, End::Won, 5, 12)], &stands(1), 2, true);
        assert_eq!(two, Err(Unsound::TwoWinners { job: 1, first: 0, second: 1 }));
        let again = judge(&[won], &[Decided { job: 1, by: 0, times: 2 }], 1, true);
        assert_eq!(again, Err(Unsound::DecidedAgain { job: 1, times: 2 }));
        let lost = judge(&[attempt(0, End::Lost, 0, 10), attempt(1, End::Busy, 0, 10)], &[], 2, true);
        assert_eq!(lost, Err(Unsound::Lost { job: 1 }));
        let gone = judge(&[won, attempt(1, End::Lost, 5, 12)], &stands(1), 2, true);
        assert_eq!(gone, Err(Unsound::Overwritten { job: 1, told: 0, stands: Some(1) }));
        let early = judge(&[attempt(0, End::Won, 20, 30), attempt(1, End::Lost, 0, 10)], &stands(0), 2, true);
        assert_eq!(early, Err(Unsound::LostToNobody { job: 1, loser: 1 }));
    }

    #[test]
    fn contenders_who_never_meet_measure_nothing() {
        let apart = judge(&[attempt(0, End::Won, 0, 10), attempt(1, End::Lost, 20, 30)], &stands(0), 2, true);
        assert_eq!(apart, Err(Unsound::NoContention { jobs: 1, contested: 0 }));
        assert!(!apart.unwrap_err().is_broken());
        let own_pace = [attempt(0, End::Won, 0, 10), attempt(1, End::Lost, 20, 30)];
        assert!(judge(&own_pace, &stands(0), 2, false).is_ok());
    }

    #[test]
    fn a_winner_whose_answer_was_lost_is_named_by_the_database() {
        let tries = [attempt(0, End::Unknown, 0, 10), attempt(1, End::Lost, 5, 12)];
        assert!(judge(&tries, &stands(0), 2, true).is_ok());
    }

    #[test]
    fn a_job_that_not_all_attempted_counts_for_nothing_but_is_still_held_to_its_promise() {
        let won = attempt(0, End::Won, 0, 10);
        assert_eq!(judge(&[won], &stands(0), 2, true), Err(Unsound::Nothing));
        assert!(matches!(judge(&[won], &stands(3), 2, true), Err(Unsound::Overwritten { .. })));
    }
}
