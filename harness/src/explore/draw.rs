//! Draws moves. What has a chance depends on what is believed at that point; how great it is, on the plan's theme.

use serde::Serialize;

use super::{
    belief::{Job, Sure},
    dice::Dice,
    draft::Draft,
    moves::{
        Ambiguity, Entry, Looker, Manner, Move, Nature, Other, Outcome, Precondition, Signed, Submit,
        Trouble, Twin,
    },
};

/// What a plan is mostly about. Plans take themes in turn, so that a short run has touched all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Theme {
    Unknown,
    Claims,
    Late,
    Cancel,
    Callbacks,
    Races,
    Entries,
    Troubles,
}

impl Theme {
    const ALL: [Self; 8] = [
        Self::Unknown,
        Self::Claims,
        Self::Late,
        Self::Cancel,
        Self::Callbacks,
        Self::Races,
        Self::Entries,
        Self::Troubles,
    ];

    /// The theme of a plan.
    #[must_use]
    pub(super) fn of(index: u64) -> Self {
        Self::ALL[usize::try_from(index % Self::ALL.len() as u64).unwrap_or(0)]
    }
}

/// Draws the moves of a plan.
#[must_use]
pub(super) fn moves(dice: &mut Dice, theme: Theme, mut draft: Draft<'_>) -> Vec<Move> {
    let mut moves = Vec::new();
    if theme == Theme::Troubles && dice.one_in(3) {
        let what = if dice.one_in(2) { Trouble::Answer } else { Trouble::Provider };
        take(Move::Break { what }, &mut draft, &mut moves);
    }
    let first = submit(dice, theme);
    take(Move::Submit(first), &mut draft, &mut moves);
    let wanted = dice.between(2, 7);
    let mut tries = 0;
    let mut count = 0;
    while count < wanted && tries < 40 {
        tries += 1;
        let job = usize::try_from(dice.below(u32::try_from(draft.jobs.len()).unwrap_or(1))).unwrap_or(0);
        let Some(known) = draft.job(job).cloned() else { break };
        let choices = choices(dice, theme, job, &known);
        let Some(chosen) = dice.weighted(&choices) else { break };
        if take(chosen, &mut draft, &mut moves) {
            count += 1;
        }
    }
    // What is sure to come is waited for, and looked at once more.
    for job in 0..draft.jobs.len() {
        take(Move::Finish { job }, &mut draft, &mut moves);
        take(Move::Read { job, by: Looker::Owner }, &mut draft, &mut moves);
    }
    moves
}

fn take(what: Move, draft: &mut Draft<'_>, moves: &mut Vec<Move>) -> bool {
    let fits = draft.add(&what);
    if fits {
        moves.push(what);
    }
    fits
}

fn submit(dice: &mut Dice, theme: Theme) -> Submit {
    let about = |of: Theme, then: u32, otherwise: u32| if theme == of { then } else { otherwise };
    let by = dice
        .weighted(&[
            (8, Entry::Plain),
            (about(Theme::Entries, 5, 0), Entry::Batch),
            (about(Theme::Entries, 5, about(Theme::Cancel, 5, 0)), Entry::Scheduled),
        ])
        .unwrap_or(Entry::Plain);
    let race = by == Entry::Plain && theme == Theme::Races && dice.one_in(2);
    let together = by == Entry::Plain && !race && dice.one_in(about(Theme::Claims, 2, 8));
    let first = manner(dice, theme);
    let mut then = vec![first];
    while then.last().is_some_and(|last| last.nature() == Nature::Next) && then.len() < 3 {
        then.push(manner(dice, theme));
    }
    Submit {
        times: if together { dice.between(2, 5) } else { 1 },
        by,
        race,
        invalid_first: by == Entry::Plain && dice.one_in(about(Theme::Claims, 4, 24)),
        then,
    }
}

fn manner(dice: &mut Dice, theme: Theme) -> Manner {
    let about = |of: &[Theme], then: u32, otherwise: u32| if of.contains(&theme) { then } else { otherwise };
    let (late, lost) =
        (about(&[Theme::Late, Theme::Races], 16, 3), about(&[Theme::Unknown, Theme::Troubles], 4, 1));
    dice.weighted(&[
        (about(&[Theme::Claims, Theme::Entries, Theme::Cancel], 8, 2), Manner::Succeed),
        (1, Manner::Slow),
        (about(&[Theme::Claims, Theme::Entries], 4, 1), Manner::Fail),
        (2, Manner::FailForNow),
        (about(&[Theme::Cancel], 6, late), Manner::Hold),
        (about(&[Theme::Late, Theme::Races, Theme::Cancel], 2, 1), Manner::HoldFail),
        (2 * lost, Manner::Swallow),
        (lost, Manner::Stall),
        (2 * lost, Manner::Reset),
        (lost, Manner::Truncate),
        (lost, Manner::Garbage),
        (2 * lost, Manner::EffectThenError),
        (lost, Manner::ServerError),
        (about(&[Theme::Callbacks], 24, 1), Manner::Accept),
        (lost, Manner::Duplicate),
    ])
    .unwrap_or(Manner::Succeed)
}

fn choices(dice: &mut Dice, theme: Theme, job: usize, known: &Job) -> Vec<(u32, Move)> {
    let about = |of: &[Theme], then: u32, otherwise: u32| if of.contains(&theme) { then } else { otherwise };
    let claims = about(&[Theme::Claims, Theme::Entries], 4, 1);
    let unknown = known.sure == Sure::Unknown;
    let parked = known.sure == Sure::Parked;
    let scheduled = known.sure == Sure::Scheduled;
    let decided = matches!(known.sure, Sure::Decided(_));
    let if_so = |so: bool, weight: u32| if so { weight } else { 0 };
    let times = dice.between(1, 3);
    let together = dice.one_in(2);
    let held = known.out.iter().any(|call| call.manner.nature() == Nature::Held);
    let promised = known.out.iter().any(|call| call.manner == Manner::Accept);
    let then = manner(dice, theme);
    let fallback = dice.one_in(2);
    let accept = dice.one_in(2);
    let flip = dice.one_in(2);
    let signed = dice
        .weighted(&[(6, Signed::Properly), (1, Signed::NotAtAll), (1, Signed::Forged), (1, Signed::LongAgo)])
        .unwrap_or(Signed::Properly);
    let outcome = dice
        .weighted(&[(1, Outcome::Succeeded), (1, Outcome::Failed), (1, Outcome::NotExecuted)])
        .unwrap_or(Outcome::Failed);
    let looker = dice
        .weighted(&[(6, Looker::Owner), (1, Looker::SecondReplica), (2, Looker::Stranger)])
        .unwrap_or(Looker::Owner);
    let trouble = dice
        .weighted(&[(8, Trouble::Crash), (1, Trouble::Restart), (3, Trouble::Pause), (2, Trouble::Database)])
        .unwrap_or(Trouble::Crash);
    let how = if dice.one_in(3) { Other::Query } else { Other::Payload };
    let twin = if dice.one_in(2) { Twin::Owner } else { Twin::LetterCase };
    let ambiguity = if dice.one_in(2) { Ambiguity::BigNumber } else { Ambiguity::MemberTwice };
    vec![
        (about(&[Theme::Claims, Theme::Races], 1, 0), Move::Submit(submit(dice, theme))),
        (2 * claims + if_so(decided, 6), Move::Again { job, times, together, by: known.by }),
        (claims, Move::Respelled { job }),
        (2 * claims, Move::Conflict { job, how }),
        (claims, Move::Twin { job, how: twin }),
        (about(&[Theme::Entries], 2, 0), Move::Ambiguous { how: ambiguity }),
        (3, Move::Read { job, by: looker }),
        (about(&[Theme::Entries], 3, 1), Move::Lookup { job }),
        (if_so(known.becomes_unknown(), 10), Move::Settle { job }),
        (if_so(unknown, about(&[Theme::Unknown], 5, 1)), Move::Overdue { job }),
        (if_so(matches!(known.sure, Sure::Coming(_)), 8), Move::Finish { job }),
        (
            about(&[Theme::Unknown, Theme::Late], 3, 1)
                + if_so(parked, 20)
                + if_so(known.race && !decided, 12)
                + if_so(unknown, 5),
            Move::Retry { job, fallback, then },
        ),
        (
            about(&[Theme::Cancel], 8, 1) + if_so(scheduled, 6) + if_so(decided, 2),
            Move::Cancel {
                job,
                accept,
                match_: if dice.one_in(8) { Precondition::Missing } else { Precondition::Current },
            },
        ),
        (if_so(unknown, about(&[Theme::Late], 12, 3)), Move::GiveUp { job }),
        (if_so(unknown, 2), Move::Resolve { job, outcome }),
        (if_so(held, 4), Move::Release { job, stale: false }),
        (if_so(!known.stale.is_empty(), 16), Move::Release { job, stale: true }),
        (if_so(known.held().count() > 1, 6), Move::ReleaseAll { job, reverse: flip, at_once: together }),
        (if_so(promised, about(&[Theme::Callbacks], 16, 4)), Move::Deliver { job, times, together, signed }),
        (about(&[Theme::Troubles], 12, 0), Move::Break { what: trouble }),
    ]
}
