//! Histories of a small service that is played here, well or badly.

use onejob::history::{Answer, Event, Kind};

use super::corpus::{push, sent};

/// A stream of numbers that a seed fixes (`SplitMix64`).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("smaller than a usize")
    }

    pub fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// How the service goes wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Habit {
    Honest,
    /// Some answers come from a copy that is behind.
    StaleCopy,
    /// A second result is written over the first.
    LastWriter,
    /// Some duplicates make a job of their own.
    SecondJob,
}

/// A request that is out, and the answer that it will get once the service has looked.
struct Out {
    request: u64,
    key: usize,
    submit: bool,
    answer: Option<Answer>,
}

struct Service {
    habit: Habit,
    /// By key: the job and how often it was decided.
    jobs: [Option<(String, u32)>; 2],
}

impl Service {
    fn look(&mut self, key: usize, submit: bool, random: &mut Random) -> Answer {
        let fresh = self.jobs[key].is_none();
        let (job, decisions) = self.jobs[key].get_or_insert_with(|| (format!("job-{key}"), 0)).clone();
        let twin = submit && !fresh && self.habit == Habit::SecondJob && random.below(3) == 0;
        let behind = self.habit == Habit::StaleCopy && random.below(3) == 0;
        let told = Answer {
            status: if submit && fresh { 201 } else { 200 },
            job: Some(if twin { format!("twin-{key}") } else { job }),
            ..Answer::default()
        };
        if decisions == 0 || behind || twin {
            return Answer { state: Some("running".to_owned()), ..told };
        }
        // An answer may say less than it knows.
        let says = |value: String| Some(value);
        let full = random.below(4) > 0;
        Answer {
            state: says("succeeded".to_owned()),
            version: says((decisions + 1).to_string()),
            winner: says(decisions.to_string()).filter(|_| full),
            result: says(format!("answer-{decisions}")).filter(|_| full),
            ..told
        }
    }
}

/// A history of some requests for two keys, up to four of them out at a time.
pub fn history(random: &mut Random) -> Vec<Event> {
    let habits = [Habit::Honest, Habit::Honest, Habit::StaleCopy, Habit::LastWriter, Habit::SecondJob];
    let mut service = Service { habit: habits[random.below(habits.len())], jobs: [None, None] };
    let (mut events, mut out): (Vec<Event>, Vec<Out>) = (Vec::new(), Vec::new());
    let requests = 4 + random.below(7);
    let mut count = 0;
    while count < requests || !out.is_empty() {
        match random.below(8) {
            0..=2 if count < requests && out.len() < 4 => {
                count += 1;
                out.push(send(&mut events, &service, count as u64, random));
            }
            3 => {
                let key = random.below(2);
                let most = if service.habit == Habit::LastWriter { 2 } else { 1 };
                if let Some((_, decisions)) = service.jobs[key].as_mut().filter(|(_, made)| *made < most) {
                    *decisions += 1;
                }
            }
            4 | 5 if !out.is_empty() => {
                let at = random.below(out.len());
                let (key, submit) = (out[at].key, out[at].submit);
                if out[at].answer.is_none() {
                    out[at].answer = Some(service.look(key, submit, random));
                }
            }
            6 | 7 if !out.is_empty() => {
                let at = random.below(out.len());
                if let Some(answer) = out[at].answer.clone() {
                    let request = out.swap_remove(at).request;
                    // One in ten answers never arrives.
                    if random.below(10) > 0 {
                        push(&mut events, Kind::Answered { request, answer });
                    }
                }
            }
            _ => {}
        }
    }
    push(&mut events, Kind::RoundEnded);
    events
}

fn send(events: &mut Vec<Event>, service: &Service, request: u64, random: &mut Random) -> Out {
    let key = random.below(2);
    let known = service.jobs[key].as_ref().map(|(job, _)| job.clone());
    let told = known.filter(|job| {
        events.iter().any(
            |event| matches!(&event.kind, Kind::Answered { answer, .. } if answer.job.as_ref() == Some(job)),
        )
    });
    let submit = told.is_none() || random.below(3) == 0;
    let step = format!("{}.{request}", if submit { "click" } else { "look" });
    let kind = match (&told, submit) {
        (Some(job), false) => sent(request, &step, "read", &[job]),
        _ => sent(request, &step, "submit", &[&format!("K{key}"), &format!("P{key}")]),
    };
    push(events, kind);
    Out { request, key, submit, answer: None }
}
