//! The invariants that a scenario asks for by name.

use std::collections::BTreeSet;

use super::{
    Judgement, View,
    always::short,
    judgement::listed,
    view::{Call, Request},
};
use crate::{
    history::Answer,
    scenario::{Bounds, Invariants, Per},
};

/// Judges every named invariant on a round; `alike` compares cells and is judged apart.
#[must_use]
pub(super) fn all(view: &View, asked: &Invariants) -> Vec<Judgement> {
    let mut judgements = Vec::new();
    if let Some(bounds) = &asked.jobs {
        judgements.push(jobs(view, bounds));
    }
    if let Some(bounds) = &asked.calls {
        judgements.push(counted(view, "calls", bounds, |call| vec![call.called]));
    }
    if let Some(bounds) = &asked.effects {
        let of_calls = counted(view, "effects", bounds, |call| call.effects.clone());
        judgements.push(more_by_the_target(view, bounds).unwrap_or(of_calls));
    }
    if let Some(bounds) = &asked.winners {
        judgements.push(winners(view, bounds));
    }
    if let Some(allowed) = &asked.payloads {
        judgements.push(payloads(view, allowed));
    }
    if asked.result_of_winner {
        judgements.push(result_of_winner(view));
    }
    if !asked.path.is_empty() {
        judgements.push(path(view, &asked.path));
    }
    if asked.decided_once {
        judgements.push(decided_once(view));
    }
    if asked.cancelled_had_no_effect {
        judgements.push(cancelled_had_no_effect(view));
    }
    if asked.identity {
        judgements.push(identity(view));
    }
    if asked.trace {
        judgements.push(super::trace::trace(view));
    }
    if !asked.logged.is_empty() {
        judgements.push(logged(view, &asked.logged));
    }
    if !asked.kept.is_empty() {
        judgements.push(kept(view, &asked.kept));
    }
    judgements
}

/// Too little of something means nothing in a round that was not played to its end: more might have come.
fn too_few(view: &View, bounds: &Bounds, count: u64) -> bool {
    let least = bounds.exactly.or(bounds.min).unwrap_or(0);
    count < least && !view.is_whole()
}

fn unfinished(name: &str) -> Judgement {
    Judgement::undecided(name, "The round was not played to its end.")
}

fn out_of(bounds: &Bounds, count: u64) -> Option<String> {
    let plural = |n: u64| if n == 1 { String::from("one") } else { n.to_string() };
    if let Some(exactly) = bounds.exactly.filter(|exactly| *exactly != count) {
        return Some(format!("{count}, not {}", plural(exactly)));
    }
    if let Some(min) = bounds.min.filter(|min| count < *min) {
        return Some(format!("{count}, not at least {}", plural(min)));
    }
    bounds.max.filter(|max| count > *max).map(|max| format!("{count}, not at most {}", plural(max)))
}

fn jobs(view: &View, bounds: &Bounds) -> Judgement {
    const NAME: &str = "jobs";
    match bounds.per {
        Per::Key => {
            for intent in view.intents() {
                let rows = view.counted.get(intent);
                let told = view.jobs_of(intent).len() as u64;
                let count = told.max(rows.map_or(0, |(_, rows)| *rows));
                if too_few(view, bounds, count) {
                    return unfinished(NAME);
                }
                if let Some(wrong) = out_of(bounds, count) {
                    let mut evidence = view.first_told(intent);
                    // What no answer told of was found in the database.
                    evidence.extend(rows.filter(|(_, rows)| *rows > told).map(|(seq, _)| *seq));
                    let sentence = format!("Jobs for key {} of {}: {wrong}.", intent.1, intent.0);
                    return Judgement::contradicted(NAME, sentence, evidence);
                }
            }
            Judgement::held(NAME)
        }
        Per::Job | Per::Round => {
            let count = view.jobs().count() as u64;
            if too_few(view, bounds, count) {
                return unfinished(NAME);
            }
            let evidence = || view.intents().flat_map(|intent| view.first_told(intent)).collect();
            match out_of(bounds, count) {
                Some(wrong) => {
                    Judgement::contradicted(NAME, format!("Jobs in the round: {wrong}."), evidence())
                }
                None => Judgement::held(NAME),
            }
        }
    }
}

fn counted(view: &View, name: &str, bounds: &Bounds, marks: impl Fn(&Call) -> Vec<u64>) -> Judgement {
    let groups: Vec<(String, Vec<&Call>)> = match bounds.per {
        Per::Round => vec![("the round".to_owned(), view.calls.iter().collect())],
        Per::Key => view
            .intents()
            .map(|intent| (format!("key {} of {}", intent.1, intent.0), view.calls_of(intent).collect()))
            .collect(),
        Per::Job => {
            view.jobs().map(|job| (format!("job {}", short(job)), view.calls_for(job).collect())).collect()
        }
    };
    for (what, calls) in &groups {
        let marked: Vec<u64> = calls.iter().flat_map(|call| marks(call)).collect();
        if too_few(view, bounds, marked.len() as u64) {
            return unfinished(name);
        }
        if let Some(wrong) = out_of(bounds, marked.len() as u64) {
            let noun = if name == "calls" { "Provider calls" } else { "Effects" };
            let sentence = format!("{noun} for {what}: {wrong}.");
            let most = bounds.exactly.or(bounds.max).unwrap_or(u64::MAX);
            if marked.len() as u64 <= most {
                // Too few: what can be pointed at is calls that ended without what they were to bring.
                let barren = calls.iter().filter(|call| marks(call).is_empty()).map(|call| call.end_seq());
                return Judgement::broke(name, sentence, barren.collect());
            }
            return if most == 0 {
                Judgement::broke(name, sentence, marked)
            } else {
                Judgement::contradicted(name, sentence, marked)
            };
        }
    }
    let unmatched =
        view.calls.iter().filter(|call| view.intent_of(call).is_none() && !marks(call).is_empty()).count();
    if unmatched > 0 && bounds.per != Per::Round {
        return Judgement::undecided(name, format!("{unmatched} calls could not be matched to an intent."));
    }
    Judgement::held(name)
}

/// Whether the target itself counts effects of a key that the bounds don't allow.
fn more_by_the_target(view: &View, bounds: &Bounds) -> Option<Judgement> {
    if bounds.per == Per::Round {
        let effects = view.effects.values().map(|(_, effects)| effects).sum();
        if view.effects.is_empty() || too_few(view, bounds, effects) {
            return None;
        }
        let wrong = out_of(bounds, effects)?;
        let sentence = format!("Effects in the round, as the target counts: {wrong}.");
        return Some(Judgement::broke(
            "effects",
            sentence,
            view.effects.values().map(|(seq, _)| *seq).collect(),
        ));
    }
    let per_key = bounds.per == Per::Key;
    view.effects.iter().filter(|_| per_key).find_map(|((owner, key), (seq, effects))| {
        if too_few(view, bounds, *effects) {
            return None;
        }
        let wrong = out_of(bounds, *effects)?;
        let sentence = format!("Effects for key {key} of {owner}, as the target counts: {wrong}.");
        Some(Judgement::broke("effects", sentence, vec![*seq]))
    })
}

fn winners(view: &View, bounds: &Bounds) -> Judgement {
    const NAME: &str = "winners";
    let mut any = false;
    for job in view.jobs() {
        let told = view.told_of(job);
        let winners: BTreeSet<&str> =
            told.iter().filter_map(|(_, answer)| answer.winner.as_deref()).collect();
        let results: BTreeSet<&str> = told
            .iter()
            .filter(|(_, answer)| answer.is_terminal())
            .filter_map(|(_, answer)| answer.result.as_deref())
            .collect();
        any |= !winners.is_empty();
        // Two results are two decisions, whatever the service says about the winner's name.
        let count = winners.len().max(results.len()) as u64;
        if too_few(view, bounds, count) {
            return unfinished(NAME);
        }
        if let Some(wrong) = out_of(bounds, count) {
            let names: Vec<_> =
                if winners.len() >= results.len() { winners } else { results }.into_iter().collect();
            let mut seen = BTreeSet::new();
            let first_of_each = told.iter().filter(|(_, answer)| {
                let told = (answer.winner.as_deref(), answer.result.as_deref());
                answer.is_terminal() && told != (None, None) && seen.insert(told)
            });
            return Judgement::contradicted(
                NAME,
                format!("Winners of job {}: {wrong} (seen: {}).", short(job), listed(&names)),
                first_of_each.filter_map(|(request, _)| request.end.as_ref().map(|end| end.seq)).collect(),
            );
        }
    }
    if any || bounds.min.is_none() && bounds.exactly.is_none() {
        Judgement::held(NAME)
    } else {
        Judgement::undecided(NAME, "No answer told who won.")
    }
}

fn payloads(view: &View, allowed: &[String]) -> Judgement {
    const NAME: &str = "payloads";
    let foreign = view.calls.iter().find(|call| call.payload.as_ref().is_some_and(|p| !allowed.contains(p)));
    match foreign {
        Some(call) => Judgement::broke(
            NAME,
            format!(
                "Payload {} reached the provider (call {}).",
                call.payload.as_deref().unwrap_or_default(),
                call.name
            ),
            vec![call.called],
        ),
        None => Judgement::held(NAME),
    }
}

fn result_of_winner(view: &View) -> Judgement {
    const NAME: &str = "result-of-winner";
    let mut judged = false;
    for job in view.jobs() {
        let told = view.told_of(job);
        let Some((request, answer)) =
            told.iter().rev().find(|(_, a)| a.state.as_deref() == Some("succeeded"))
        else {
            continue;
        };
        let (Some(result), Some(winner)) = (&answer.result, &answer.winner) else { continue };
        let calls: Vec<_> =
            view.calls_for(job).filter(|call| call.attempt.as_ref() == Some(winner)).collect();
        let texts: Vec<&str> = calls
            .iter()
            .filter_map(|call| call.replied.as_ref().and_then(|(_, _, text)| text.as_deref()))
            .collect();
        if texts.is_empty() {
            continue;
        }
        judged = true;
        if !texts.iter().any(|text| result == text) {
            let replies = calls.iter().filter_map(|call| call.replied.as_ref().map(|r| r.0)).collect();
            let told = request.end.iter().map(|end| end.seq).collect();
            let judgement = Judgement::broke(
                NAME,
                format!(
                    "Attempt {winner} won job {}, and its call answered {}, but the job's result is {result}.",
                    short(job),
                    listed(&texts)
                ),
                told,
            );
            return Judgement { against: replies, ..judgement };
        }
    }
    if judged {
        Judgement::held(NAME)
    } else {
        Judgement::undecided(NAME, "No winner's answer was seen at the provider.")
    }
}

/// The states of a job in the order in which answers told of them must follow the path. Answers that overlapped
/// another one say nothing about order and are left out.
fn path(view: &View, path: &[String]) -> Judgement {
    const NAME: &str = "path";
    let path: Vec<(&str, bool)> = path
        .iter()
        .map(|word| word.strip_suffix('?').map_or((word.as_str(), true), |word| (word, false)))
        .collect();
    for job in view.jobs() {
        let told = view.told_of(job);
        let ordered: Vec<_> = told
            .iter()
            .enumerate()
            .filter(|(at, (request, _))| {
                *at == 0 || told[at - 1].0.end.as_ref().is_some_and(|end| end.seq < request.sent)
            })
            .map(|(_, pair)| pair)
            .collect();
        let mut place = 0;
        for (request, answer) in ordered {
            let state = answer.state.as_deref().unwrap_or_default();
            let fits = |word: &str| word == state || word == "terminal" && answer.is_terminal();
            let from = path.get(place).is_some_and(|(word, _)| fits(word));
            if from {
                continue;
            }
            let next = path.iter().enumerate().skip(place + usize::from(place > 0 || from)).find_map(
                |(at, (word, must))| {
                    if fits(word) {
                        Some(Ok(at))
                    } else if *must {
                        Some(Err(*word))
                    } else {
                        None
                    }
                },
            );
            match next {
                Some(Ok(at)) => place = at,
                Some(Err(expected)) => {
                    return Judgement::broke(
                        NAME,
                        format!(
                            "Job {} was seen {state} ({}) before it was {expected}.",
                            short(job),
                            request.step
                        ),
                        request.end.iter().map(|end| end.seq).collect(),
                    );
                }
                None => {
                    return Judgement::broke(
                        NAME,
                        format!(
                            "Job {} was seen {state} ({}), which its path has no place for.",
                            short(job),
                            request.step
                        ),
                        request.end.iter().map(|end| end.seq).collect(),
                    );
                }
            }
        }
        let unseen = path.iter().skip(place + 1).find(|(_, must)| *must);
        if let Some((word, _)) = unseen {
            if !view.is_whole() {
                return unfinished(NAME);
            }
            let last = told.last().and_then(|(request, _)| request.end.as_ref()).map(|end| end.seq);
            let sentence = format!("Job {} was never seen {word}.", short(job));
            return Judgement::broke(NAME, sentence, last.into_iter().collect());
        }
    }
    Judgement::held(NAME)
}

/// Decide-once: there must be a moment for the decision after the beginning of everything that saw the job undecided,
/// and before the end of everything that saw it decided.
#[must_use]
pub fn decided_once(view: &View) -> Judgement {
    const NAME: &str = "decided-once";
    for job in view.jobs() {
        let told = view.told_of(job);
        let undecided =
            told.iter().filter(|(_, answer)| !answer.is_terminal()).max_by_key(|(request, _)| request.sent);
        let decided = told
            .iter()
            .filter(|(_, answer)| answer.is_terminal())
            .min_by_key(|(request, _)| request.end.as_ref().map(|end| end.seq));
        let Some((yes, _)) = decided else { continue };
        let known = yes.end.as_ref().map_or(u64::MAX, |end| end.seq);
        if let Some((no, _)) = undecided.filter(|(request, _)| request.sent > known) {
            return Judgement::contradicted(
                NAME,
                format!(
                    "{} was told that job {} is over, and {}, asked later, that it isn't.",
                    yes.step,
                    short(job),
                    no.step
                ),
                [yes, no].into_iter().filter_map(|r| r.end.as_ref().map(|end| end.seq)).collect(),
            );
        }
        // The result can't be known before the winning call was allowed to answer.
        // An answer that says less is completed by the others: who won is known from any of them.
        let winner = told.iter().filter(|(_, a)| a.is_terminal()).find_map(|(_, a)| a.winner.as_ref());
        // Nor need the winner's call be answered where somebody decided by other evidence.
        let resolved = told.iter().any(|(request, answer)| request.verb == "resolve" && !answer.refused);
        let winner = winner.filter(|_| !resolved);
        let winning = view.calls_for(job).find(|call| winner.is_some() && call.attempt.as_ref() == winner);
        if let Some((seq, _)) = winning.and_then(|call| call.released).filter(|(seq, _)| *seq > known) {
            let judgement = Judgement::broke(
                NAME,
                format!(
                    "{} was told a result of job {} before the winning call was answered.",
                    yes.step,
                    short(job)
                ),
                vec![known],
            );
            return Judgement { against: vec![seq], ..judgement };
        }
        if let Some((one, other)) = two_decisions(&told) {
            return Judgement::contradicted(
                NAME,
                format!(
                    "{} and {} were told two different decisions of job {}.",
                    one.step,
                    other.step,
                    short(job)
                ),
                [one, other].into_iter().filter_map(|r| r.end.as_ref().map(|end| end.seq)).collect(),
            );
        }
    }
    Judgement::held(NAME)
}

/// The first two answers that can't both be told of one decided job. What one of them leaves out it doesn't contradict.
fn two_decisions<'a>(told: &[(&'a Request, &'a Answer)]) -> Option<(&'a Request, &'a Request)> {
    let mut known: [Option<(&Request, &String)>; 4] = [None; 4];
    for (request, answer) in told.iter().filter(|(_, answer)| answer.is_terminal()) {
        let fields = [&answer.state, &answer.winner, &answer.result, &answer.version];
        for (known, told) in known.iter_mut().zip(fields) {
            let Some(told) = told else { continue };
            match known {
                Some((first, value)) if *value != told => return Some((first, request)),
                Some(_) => {}
                None => *known = Some((request, told)),
            }
        }
    }
    None
}

fn cancelled_had_no_effect(view: &View) -> Judgement {
    const NAME: &str = "cancelled-had-no-effect";
    for job in view.jobs() {
        let told = view.told_of(job);
        let Some((request, _)) = told.iter().rev().find(|(_, a)| a.state.as_deref() == Some("cancelled"))
        else {
            continue;
        };
        let call = view.calls_for(job).find(|call| !call.effects.is_empty());
        if let Some(call) = call {
            let told = request.end.iter().map(|end| end.seq);
            return Judgement::contradicted(
                NAME,
                format!("Job {} was cancelled, and yet call {} took effect.", short(job), call.name),
                call.effects.iter().copied().chain(told).collect(),
            );
        }
    }
    Judgement::held(NAME)
}

fn identity(view: &View) -> Judgement {
    const NAME: &str = "identity";
    if view.calls.is_empty() {
        return Judgement::undecided(NAME, "The provider saw no call.");
    }
    let known: BTreeSet<&str> = view.jobs().collect();
    let foreign =
        view.calls.iter().find(|call| call.identity.as_deref().is_none_or(|id| !known.contains(id)));
    match foreign {
        Some(call) => Judgement::broke(
            NAME,
            match &call.identity {
                None => format!(
                    "Call {} carried no identity: the provider can't recognise a duplicate.",
                    call.name
                ),
                Some(other) => {
                    format!("Call {} carried the identity {}, which is no job's.", call.name, short(other))
                }
            },
            vec![call.called],
        ),
        None => Judgement::held(NAME),
    }
}

fn logged(view: &View, words: &[String]) -> Judgement {
    const NAME: &str = "logged";
    let missing: Vec<&String> =
        words.iter().filter(|word| view.log.iter().all(|entry| entry.what != **word)).collect();
    if missing.is_empty() {
        return Judgement::held(NAME);
    }
    if !view.is_whole() {
        return unfinished(NAME);
    }
    let have: BTreeSet<&str> = view.log.iter().map(|entry| entry.what.as_str()).collect();
    let have: Vec<_> = have.into_iter().collect();
    // Nothing that the log does tell is wrong: what broke the promise is what isn't there.
    Judgement::broke(
        NAME,
        format!("The job's log does not tell of {} (it tells of {}).", listed(&missing), listed(&have)),
        Vec::new(),
    )
}

fn kept(view: &View, texts: &[String]) -> Judgement {
    const NAME: &str = "kept";
    let missing: Vec<&String> = texts
        .iter()
        .filter(|text| {
            view.kept.iter().all(|(_, _, result)| result.as_ref().is_none_or(|r| !r.contains(text.as_str())))
        })
        .collect();
    if missing.is_empty() {
        Judgement::held(NAME)
    } else if !view.is_whole() {
        unfinished(NAME)
    } else {
        // Not being kept is no event; the answer that should have been is one, and no fault in itself.
        let brought = view.calls.iter().filter_map(|call| {
            let (seq, _, text) = call.replied.as_ref()?;
            let text = text.as_ref()?;
            missing.iter().any(|missing| text.contains(missing.as_str())).then_some(*seq)
        });
        let sentence = format!("The late result {} was not kept for audit.", listed(&missing));
        Judgement { against: brought.collect(), ..Judgement::broke(NAME, sentence, Vec::new()) }
    }
}
