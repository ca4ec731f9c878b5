use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::view::{Call, Intent, Request};

/// Who belongs to whom in a round: the places of requests and calls, by what laws ask for. With it a law looks at each
/// of them a fixed number of times, however many jobs there are.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    /// The distinct jobs that answers told of, by (owner, key).
    pub(super) jobs: BTreeMap<Intent, BTreeSet<String>>,
    /// Those of all of them, in order.
    pub(super) all_jobs: Vec<String>,
    /// Submits by (owner, key), as they were sent.
    pub(super) submits: HashMap<Intent, Vec<usize>>,
    /// Requests whose answer told a job's state, by job, as they were answered.
    pub(super) told: HashMap<String, Vec<usize>>,
    /// When somebody was first told of a job because of its key.
    pub(super) known: HashMap<String, u64>,
    /// Reads that were answered 404, by the job that they asked about.
    pub(super) not_found: HashMap<String, Vec<usize>>,
    /// Calls by (owner, key).
    pub(super) calls_of_intent: HashMap<Intent, Vec<usize>>,
    /// Calls by the identity that they carried.
    pub(super) calls_of_job: HashMap<String, Vec<usize>>,
    /// Requests by the full name of their step.
    steps: HashMap<String, Vec<usize>>,
    /// Requests of steps that send several, by the name without the number.
    numbered: HashMap<String, Vec<usize>>,
    intent_of_job: HashMap<String, Intent>,
    intents_of_payload: HashMap<String, BTreeSet<Intent>>,
}

impl Index {
    /// Looks at everything once.
    pub(super) fn of(requests: &[Request], calls: &[Call]) -> Self {
        let mut index = Self::default();
        for (at, request) in requests.iter().enumerate() {
            index.take_request(at, request);
        }
        let ended = |at: &usize| requests[*at].end.as_ref().map(|end| end.seq);
        for told in index.told.values_mut() {
            told.sort_by_key(ended);
        }
        let all: BTreeSet<&String> = index.jobs.values().flatten().collect();
        index.all_jobs = all.into_iter().cloned().collect();
        for (at, call) in calls.iter().enumerate() {
            if let Some(intent) = index.intent_of(call).cloned() {
                index.calls_of_intent.entry(intent).or_default().push(at);
            }
            if let Some(identity) = &call.identity {
                add(&mut index.calls_of_job, identity, at);
            }
        }
        index
    }

    fn take_request(&mut self, at: usize, request: &Request) {
        add(&mut self.steps, &request.step, at);
        if request.step_id().len() < request.step.len() {
            add(&mut self.numbered, request.step_id(), at);
        }
        if let Some(answer) = request.answer() {
            if let Some(job) = request.job().filter(|_| answer.state.is_some()) {
                add(&mut self.told, job, at);
            }
            if let Some(job) =
                request.about.as_ref().filter(|_| answer.status == 404 && request.verb == "read")
            {
                add(&mut self.not_found, job, at);
            }
        }
        let (Some(key), true) = (&request.key, request.creates()) else { return };
        let intent = (request.owner.clone(), key.clone());
        if let Some(payload) = &request.payload {
            self.intents_of_payload.entry(payload.clone()).or_default().insert(intent.clone());
        }
        let told =
            request.answer().filter(|answer| answer.status < 400).and_then(|answer| answer.job.as_ref());
        let jobs = self.jobs.entry(intent.clone()).or_default();
        if let Some(job) = told {
            jobs.insert(job.clone());
            if let Some(end) = &request.end {
                let known = self.known.entry(job.clone()).or_insert(end.seq);
                *known = end.seq.min(*known);
            }
            self.intent_of_job.entry(job.clone()).or_insert_with(|| intent.clone());
        }
        if request.verb == "submit" {
            self.submits.entry(intent).or_default().push(at);
        }
    }

    /// The intent that a call served: by the identity that it carried, else by a payload that one intent alone used.
    pub(super) fn intent_of(&self, call: &Call) -> Option<&Intent> {
        if let Some(intent) = call.identity.as_ref().and_then(|identity| self.intent_of_job.get(identity)) {
            return Some(intent);
        }
        let intents = self.intents_of_payload.get(call.payload.as_ref()?)?;
        if intents.len() == 1 { intents.first() } else { None }
    }

    /// Requests of a step, or the one request that `STEP.n` names.
    pub(super) fn requests_of(&self, name: &str) -> &[usize] {
        self.steps.get(name).or_else(|| self.numbered.get(name)).map_or(&[], Vec::as_slice)
    }
}

fn add(places: &mut HashMap<String, Vec<usize>>, name: &str, at: usize) {
    if let Some(known) = places.get_mut(name) {
        known.push(at);
    } else {
        places.insert(name.to_owned(), vec![at]);
    }
}
