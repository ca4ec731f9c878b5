//! From what happened in a step to what is said of it. Pure: the history decides.

use super::{check::Check, finding::Finding, profiles::Observed};
use crate::{
    history::{Answer, Event, LEAKED, Lost},
    law::{Request, View, step_of},
    scenario::Capability,
    target::{TargetFile, state_of},
};

/// A step that was played.
pub(super) struct Seen<'s> {
    pub(super) file: &'s TargetFile,
    pub(super) view: View,
    pub(super) events: &'s [Event],
}

impl Seen<'_> {
    fn requests<'v>(&'v self, step: &str) -> impl Iterator<Item = &'v Request> {
        let step = step.to_owned();
        self.view.requests.iter().filter(move |request| step_of(&request.step) == step)
    }

    /// The last answer to a step.
    fn answer(&self, step: &str) -> Option<&Answer> {
        self.requests(step).filter_map(Request::answer).last()
    }

    fn loss(&self, step: &str) -> Option<&(Lost, String)> {
        self.requests(step).last()?.end.as_ref()?.answer.as_ref().err()
    }

    fn missed(&self, step: &str) -> Option<&str> {
        self.view.missed.iter().find(|(name, _)| name == step).map(|(_, what)| what.as_str())
    }

    /// What was answered to a step, or why nothing was.
    fn told(&self, step: &str) -> Result<&Answer, String> {
        match (self.answer(step), self.loss(step)) {
            (Some(answer), _) => Ok(answer),
            (None, Some((_, detail))) => Err(format!("there was no answer: {detail}")),
            (None, None) => Err(self.missed(step).unwrap_or("it was not sent").to_owned()),
        }
    }

    fn has(&self, capability: Capability) -> bool {
        self.file.capabilities().contains(&capability)
    }

    /// Where the file says that it finds a field of a submit's answer.
    fn place(&self, field: &str) -> &str {
        self.file.target.submit.reads.get(field).map_or("nowhere", String::as_str)
    }
}

/// An answer that tells what the target file calls secret, whatever the step was about.
pub(super) fn leak(seen: &Seen<'_>) -> Option<Finding> {
    let leaks =
        |request: &&Request| request.answer().is_some_and(|answer| answer.fields.contains_key(LEAKED));
    let request = seen.view.requests.iter().find(leaks)?;
    let status = request.answer().map_or(0, |answer| answer.status);
    Some(
        Finding::differs(
            "secrets",
            format!("an answer with status {status} holds a secret of the target file"),
        )
        .help("whoever reads the log of an error reads the token too: in a run that is a broken promise")
        .showing(seen.events, &[step_of(&request.step)]),
    )
}

/// What is said of a step.
pub(super) fn judge(check: Check, seen: &Seen<'_>, observed: &mut Observed) -> Vec<Finding> {
    match check {
        Check::Submit => submit(seen),
        Check::Repeat => vec![repeat(seen, observed)],
        Check::Conflict => vec![conflict(seen, observed)],
        Check::Keyless => vec![keyless(seen, observed)],
        Check::Stranger => vec![stranger(seen)],
        Check::Owners => vec![owners(seen)],
        Check::Arrival => vec![arrival(seen)],
        Check::Lock => vec![lock(seen)],
        Check::Lookup => vec![lookup(seen)],
        Check::Cancel => vec![cancel(seen)],
        Check::Retry => vec![ends(check, seen, "retry")],
        Check::Resolve => vec![ends(check, seen, "resolve")],
        Check::Callback => vec![ends(check, seen, "deliver")],
        Check::Batch | Check::Schedule | Check::Race => vec![ends(check, seen, "submit")],
        Check::Replicas => vec![replicas(seen)],
    }
}

fn success(answer: &Answer) -> bool {
    (200..300).contains(&answer.status)
}

/// What a refusal of a plain request usually means.
fn remedy(status: u16) -> &'static str {
    match status {
        401 | 403 => {
            "nobody is authenticated: compare `headers` and `token` of the first [[owner]] with what the service wants"
        }
        404 | 405 => {
            "method or path of `request` is another one, or `base` has a path that it shouldn't have or lacks"
        }
        400 | 422 => {
            "the service doesn't take this body: compare `json` with what it wants; the answer says more"
        }
        406 | 415 => {
            "the service wants other headers: add `content-type` or `accept` to `headers` of the request"
        }
        429 => "the service limits requests: lift the limit for tests",
        301..=308 => {
            "the service sends elsewhere, and a redirect is never followed: name that place in `base` or `request`"
        }
        500.. => "the service broke: its own log says why",
        _ => "compare the request with what the service wants",
    }
}

fn submit(seen: &Seen<'_>) -> Vec<Finding> {
    let step = "submit";
    let answer = match seen.told(step) {
        Err(why) => {
            let help = "does it answer at all? `answer_within` in [target] says how long is waited";
            return vec![Finding::broken(step, why).help(help).showing(seen.events, &["submit"])];
        }
        Ok(answer) if !success(answer) => {
            let said = format!("it was answered {}", answer.status);
            return vec![
                Finding::broken(step, said).help(remedy(answer.status)).showing(seen.events, &["submit"]),
            ];
        }
        Ok(answer) => answer,
    };
    let took = seen.requests(step).find_map(|one| Some(one.end.as_ref()?.at_us.saturating_sub(one.sent_us)));
    let took = took.map_or(String::new(), |us| format!(" after {} ms", us / 1000));
    let mut all = vec![Finding::works(step, format!("answered {}{took}", answer.status))];
    all.push(match &answer.job {
        Some(job) => Finding::works("job id", format!("`{job}`, found at {}", seen.place("job"))),
        None => Finding::new("job id", super::Standing::Missing, "no answer tells which job it is about")
            .help("add `job = \"/id\"`, or wherever it is, to [target.submit.reads]")
            .showing(seen.events, &["submit"]),
    });
    all.extend(read(seen));
    all.extend(provider(seen));
    all.extend(effects(seen));
    all
}

/// The job's way to its end.
fn read(seen: &Seen<'_>) -> Option<Finding> {
    if !seen.has(Capability::Read) {
        return None;
    }
    let Ok(last) = seen.told("end") else {
        let why = seen.missed("end").unwrap_or("the job was not read");
        return Some(Finding::broken("read", why.to_owned()).showing(seen.events, &["submit", "end"]));
    };
    if !success(last) {
        let said = format!("reading the job was answered {}", last.status);
        return Some(
            Finding::broken("read", said).help(remedy(last.status)).showing(seen.events, &["submit", "end"]),
        );
    }
    let Some(state) = &last.state else {
        let help = "add `state = \"/status\"`, or wherever it is, to the `reads` of [target.read]";
        return Some(
            Finding::broken("read", "the answer tells no state").help(help).showing(seen.events, &["end"]),
        );
    };
    let words = &seen.file.target.states;
    let known = words.by_meaning().iter().any(|(meaning, own)| meaning == state && !own.is_empty());
    if !known && state_of(words, state).is_none() {
        let said = format!("the state `{state}` is none of the words in [target.states]");
        let help = format!("add \"{state}\" to the line that means the same");
        return Some(Finding::broken("states", said).help(help).showing(seen.events, &["end"]));
    }
    if seen.missed("end").is_some() {
        let called = match (seen.has(Capability::Provider), seen.view.calls.len()) {
            (true, 0) => "; the provider was never called",
            _ => "",
        };
        let said = format!("the job is still `{state}` after 15 s{called}");
        let help = "does something carry jobs out here (a worker, a queue), and can it reach the provider?";
        return Some(Finding::broken("read", said).help(help).showing(seen.events, &["end"]));
    }
    Some(match state.as_str() {
        "succeeded" => Finding::works("read", "the job came to its end: succeeded"),
        other => Finding::broken(
            "read",
            format!("the job ended as `{other}`, and every scenario begins with one that succeeds"),
        )
        .help("the service's own log says why; `names` and the URL of [provider] are what it calls")
        .showing(seen.events, &["submit", "end"]),
    })
}

/// Whether the double was called, and recognised the job.
fn provider(seen: &Seen<'_>) -> Option<Finding> {
    let section = seen.file.provider.as_ref()?;
    let step = "provider";
    let calls = &seen.view.calls;
    let Some(call) = calls.first() else {
        return Some(
            Finding::broken(step, "the service never called the double that stands in for its provider").help(
                "give it the double's URL: `{provider.primary.url}` in `start` or `env` of [target.command], or a fixed \
                 `listen` in [provider] that the service is set to. A call must carry the payload, by which it is known",
            ),
        );
    };
    if let (Some(place), None) = (&section.identity, &call.identity) {
        return Some(
            Finding::broken(
                step,
                format!("the call has no `{place}`, where [provider] says that the job's identity is"),
            )
            .help("correct `identity`, or take it out: what providers can recognise is then not judged"),
        );
    }
    let identity = match &call.identity {
        Some(identity) => format!("; it says `{identity}` for itself"),
        None => String::new(),
    };
    Some(match calls.len() {
        1 => Finding::works(step, format!("one call, known by its payload{identity}")),
        many => Finding::differs(step, format!("{many} calls for one job{identity}"))
            .help("one is what every scenario expects of a provider that answers"),
    })
}

/// What the target itself counts.
fn effects(seen: &Seen<'_>) -> Option<Finding> {
    if !seen.file.counts_effects() {
        return None;
    }
    Some(match seen.view.effects.values().next() {
        Some((_, 1)) => Finding::works("effects", "one effect was counted for one job"),
        Some((_, many)) => Finding::broken("effects", format!("{many} effects were counted for one job"))
            .help("does the count take only this key's?"),
        None => Finding::broken("effects", "nothing was counted").help("check [target.effects]"),
    })
}

fn repeat(seen: &Seen<'_>, observed: &mut Observed) -> Finding {
    let step = Check::Repeat.name();
    let (Some(first), Ok(again)) = (seen.answer("submit"), seen.told("again")) else {
        return Finding::untried(step, "the first submit did not end")
            .showing(seen.events, &["submit", "again"]);
    };
    observed.repeat = Some((again.status, again.replayed));
    let marked = if again.replayed { ", marked as a replay" } else { "" };
    if !success(again) {
        let said = format!("a second submit with the same key was answered {}", again.status);
        return Finding::differs(step, said).showing(seen.events, &["again"]);
    }
    match (&first.job, &again.job) {
        (Some(one), Some(other)) if one != other => {
            let calls = match seen.view.calls.len() {
                0 | 1 => String::new(),
                many => format!(", and {many} calls of the provider"),
            };
            Finding::differs(step, format!("a second submit with the same key made another job{calls}"))
                .help(
                    "either the key is sent where the service doesn't look (`headers` or `json` of [target.submit]), or it \
                     doesn't honour keys: `onejob run duplicate-after-the-end` judges that",
                )
                .showing(seen.events, &["again"])
        }
        (Some(_), Some(_)) => Finding::works(
            step,
            format!("a second submit got the first one's job ({}{marked})", again.status),
        ),
        _ => Finding::works(step, format!("a second submit was answered {}{marked}", again.status)),
    }
}

fn conflict(seen: &Seen<'_>, observed: &mut Observed) -> Finding {
    let step = Check::Conflict.name();
    let Ok(other) = seen.told("other") else {
        return Finding::untried(step, "the first submit did not end")
            .showing(seen.events, &["submit", "other"]);
    };
    observed.mismatch = Some(other.status);
    let expected = &seen.file.promises().mismatch.status;
    match other.status {
        status if (400..500).contains(&status) && expected.contains(&status) => {
            Finding::works(step, format!("another payload under the key was refused ({status})"))
        }
        status if (400..500).contains(&status) => Finding::differs(
            step,
            format!(
                "another payload under the key was refused with {status}; the profile says {}",
                listed(expected)
            ),
        ),
        status if success(other) => {
            Finding::differs(step, format!("another payload under the key was taken ({status})"))
                .help("a finding if the key is where the service looks: `onejob run key-reuse` judges that")
                .showing(seen.events, &["other"])
        }
        status => Finding::differs(step, format!("another payload under the key was answered {status}"))
            .showing(seen.events, &["other"]),
    }
}

fn listed(statuses: &[u16]) -> String {
    statuses.iter().map(u16::to_string).collect::<Vec<_>>().join(" or ")
}

fn keyless(seen: &Seen<'_>, observed: &mut Observed) -> Finding {
    let step = Check::Keyless.name();
    let Ok(answer) = seen.told("keyless") else {
        return Finding::untried(step, "a request without a key got no answer")
            .showing(seen.events, &["keyless"]);
    };
    observed.missing = Some(answer.status);
    let promised = seen.file.promises().missing;
    let allowed = promised.answer == crate::target::OnMissing::Allowed;
    match (success(answer), allowed) {
        (true, true) => Finding::works(step, format!("a request without a key is carried out ({}), as the profile says", answer.status)),
        (true, false) => Finding::differs(step, format!("a request without a key is carried out ({})", answer.status))
            .help("where that is meant so, `missing = { answer = \"allowed\" }` in [promises] of a custom profile says it"),
        (false, _) if promised.status.contains(&answer.status) => {
            Finding::works(step, format!("a request without a key is refused ({})", answer.status))
        }
        (false, _) => Finding::differs(
            step,
            format!("a request without a key is refused with {}; the profile says {}", answer.status, listed(&promised.status)),
        ),
    }
}

fn stranger(seen: &Seen<'_>) -> Finding {
    let step = Check::Stranger.name();
    match seen.told("stranger") {
        Ok(answer) if [401, 403].contains(&answer.status) => {
            Finding::works(step, format!("a request without credentials is refused ({})", answer.status))
        }
        Ok(answer) => {
            Finding::differs(step, format!("a request without credentials was answered {}", answer.status))
                .help("if anybody may ask, take the [[owner]]s out; else this is a hole")
                .showing(seen.events, &["stranger"])
        }
        Err(why) => Finding::untried(step, why).showing(seen.events, &["stranger"]),
    }
}

fn owners(seen: &Seen<'_>) -> Finding {
    let step = Check::Owners.name();
    let (Some(first), Ok(second)) = (seen.answer("submit"), seen.told("second")) else {
        return Finding::untried(step, "the first submit did not end")
            .showing(seen.events, &["submit", "second"]);
    };
    if [401, 403].contains(&second.status) {
        return Finding::broken(step, format!("the second owner was answered {}", second.status))
            .help("compare `headers` and `token` of the second [[owner]] with what the service wants")
            .showing(seen.events, &["second"]);
    }
    if !success(second) || first.job.is_some() && first.job == second.job {
        let said = format!("a second owner with the same key was answered {}", second.status);
        let same = if first.job == second.job { ", with the first owner's job" } else { "" };
        return Finding::differs(step, format!("{said}{same}"))
            .help("`onejob run owners-same-key` judges that")
            .showing(seen.events, &["submit", "second"]);
    }
    match seen.answer("look").map(|answer| answer.status) {
        Some(status) if (200..300).contains(&status) => {
            Finding::differs(step, format!("the second owner can read the first one's job ({status})"))
                .help("`onejob run owners-foreign-job` judges that")
                .showing(seen.events, &["look"])
        }
        Some(status) => {
            Finding::works(step, format!("each has his own job, and can't read the other's ({status})"))
        }
        None => Finding::works(step, "each has his own job"),
    }
}

fn arrival(seen: &Seen<'_>) -> Finding {
    let step = Check::Arrival.name();
    let Some(gate) = seen.view.gates.first() else {
        return Finding::untried(step, "two requests could not be brought to the gate")
            .showing(seen.events, &["submit", "both"]);
    };
    if gate.early > 0 {
        let said = format!("{} of two requests were answered before their last byte was sent", gate.early);
        return Finding::differs(step, said).help(
            "something in front of the service answers by itself, or answers by the head alone; in runs the end of the head \
             is held back too",
        );
    }
    Finding::works(
        step,
        format!("two requests wait for their last byte, and get it {} µs apart", gate.spread_us),
    )
}

fn lock(seen: &Seen<'_>) -> Finding {
    let step = Check::Lock.name();
    let rows = seen.view.counted.values().next().map(|(_, rows)| *rows);
    let counted = match (rows, seen.file.target.database.as_ref().and_then(|base| base.count_jobs.as_ref())) {
        (Some(rows), _) => format!("; `count_jobs` finds {rows}"),
        (None, None) => "; without `count_jobs`, rows are not counted".to_owned(),
        (None, Some(_)) => String::new(),
    };
    match seen.view.gates.first() {
        Some(gate) if gate.waiting == gate.expected && rows == Some(0) => Finding::broken(step, format!("{} requests made a job, and `count_jobs` finds none", gate.expected))
            .help("`$1` is the owner's name as the file has it, `$2` the key: what does the service write there?"),
        Some(gate) if gate.waiting == gate.expected => {
            Finding::works(step, format!("{} requests waited at the lock on the table{counted}", gate.waiting))
        }
        Some(gate) => Finding::differs(step, format!("{} of {} requests waited at the lock on the table{counted}", gate.waiting, gate.expected))
            .help("`jobs_table` has to be one that every creation writes to; a service that lets one in at a time holds the other back itself"),
        None => Finding::broken(step, "no lock could be taken").help("check `jobs_table` of [target.database]"),
    }
}

fn lookup(seen: &Seen<'_>) -> Finding {
    let step = Check::Lookup.name();
    match (seen.answer("submit"), seen.told("found")) {
        (Some(first), Ok(found)) if success(found) && first.job == found.job => {
            Finding::works(step, "the job is found by its key")
        }
        (_, Ok(found)) => Finding::broken(
            step,
            format!("asked by its key, the service answered {} without the job", found.status),
        )
        .help("compare `request` and `reads` of [target.lookup] with the exchange")
        .showing(seen.events, &["found"]),
        (_, Err(why)) => Finding::broken(step, why).showing(seen.events, &["found"]),
    }
}

fn cancel(seen: &Seen<'_>) -> Finding {
    let step = Check::Cancel.name();
    if seen.requests("cancel").next().is_none() {
        let why =
            "a submit that is answered only at its end tells no id before, so nothing could be cancelled";
        return Finding::untried(step, why).showing(seen.events, &["cancel"]);
    }
    match seen.told("cancel") {
        Ok(answer) if success(answer) => {
            Finding::works(step, format!("a job that is out is cancelled ({})", answer.status))
        }
        Ok(answer) if [409, 412, 428].contains(&answer.status) => Finding::works(
            step,
            format!("a job that is out is not cancelled, and says so ({})", answer.status),
        ),
        Ok(answer) => Finding::broken(step, format!("cancelling was answered {}", answer.status))
            .help(remedy(answer.status))
            .showing(seen.events, &["cancel"]),
        Err(why) => Finding::broken(step, why).showing(seen.events, &["cancel"]),
    }
}

/// A step whose request has to be taken, and whose job then has to come to an end.
fn ends(check: Check, seen: &Seen<'_>, request: &str) -> Finding {
    let step = check.name();
    if let (None, Some((name, what))) = (seen.requests(request).next(), seen.view.missed.first()) {
        let why = format!("`{name}`: {what}");
        let help = "the situation has to come about first: a job that fails, or whose outcome is unknown. A knob in \
                    [settings] (`attempt_timeout`, `max_attempts`) may be what it takes";
        return Finding::untried(step, why).help(help).showing(seen.events, &[request]);
    }
    match seen.told(request) {
        Ok(answer) if success(answer) => match seen.missed("end") {
            Some(what) => Finding::broken(step, format!("answered {}, and then {what}", answer.status))
                .showing(seen.events, &[request, "end"]),
            None => Finding::works(step, format!("answered {}, and the job came to its end", answer.status)),
        },
        Ok(answer) if check == Check::Retry && answer.refused && answer.status == 409 => {
            Finding::works(step, "a job that failed gets no further attempt, and says so (409)")
        }
        Ok(answer) => Finding::broken(step, format!("it was answered {}", answer.status))
            .help(remedy(answer.status))
            .showing(seen.events, &[request]),
        Err(why) => Finding::broken(step, why).showing(seen.events, &[request]),
    }
}

fn replicas(seen: &Seen<'_>) -> Finding {
    let step = Check::Replicas.name();
    match seen.told("other") {
        Ok(answer) if success(answer) => {
            Finding::works(step, "a job of the first replica is read at the second one")
        }
        Ok(answer) => Finding::differs(
            step,
            format!("a job of the first replica is not known at the second one ({})", answer.status),
        )
        .help(
            "replicas have to share what they know: give them one database, or say `lacks = [\"replicas\"]`",
        )
        .showing(seen.events, &["other"]),
        Err(why) => Finding::broken(step, why).showing(seen.events, &["other"]),
    }
}
