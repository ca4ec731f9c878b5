use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{mpsc, watch};

use super::kinds::{HttpFault, Times};
use super::{Armed, Hit, NetFault, ProxyFault, RequestHead};

/// One armed fault.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: u64,
    pub(super) armed: Instant,
    pub(super) fault: ProxyFault,
    /// None for always.
    left: Mutex<Option<u32>>,
    hits: mpsc::UnboundedSender<Hit>,
    /// True when held requests may go.
    released: watch::Sender<bool>,
    disarmed: watch::Sender<bool>,
}

impl Rule {
    /// Takes one of the hits that are left. Whoever gets it says later whether it really hit.
    pub(super) fn claim(self: &Arc<Self>) -> Option<Claim> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        match *left {
            _ if self.is_disarmed() => return None,
            Some(0) => return None,
            Some(count) => *left = Some(count - 1),
            None => {}
        }
        Some(Claim { rule: Arc::clone(self), used: false })
    }

    pub(super) fn has_hits_left(&self) -> bool {
        !self.is_disarmed() && *self.left.lock().unwrap_or_else(PoisonError::into_inner) != Some(0)
    }

    fn is_disarmed(&self) -> bool {
        *self.disarmed.borrow()
    }

    pub(super) fn open(&self) {
        self.released.send_replace(true);
    }

    /// Returns when held requests may go.
    pub(super) async fn until_released(&self) {
        // The sender lives in this rule, so waiting can't fail.
        let _ = self.released.subscribe().wait_for(|released| *released).await;
    }
}

/// A hit that was taken. One that does not happen after all is given back when this is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    rule: Arc<Rule>,
    used: bool,
}

impl Claim {
    pub(super) fn rule(&self) -> &Arc<Rule> {
        &self.rule
    }

    pub(super) fn hit(mut self, hit: Hit) {
        self.used = true;
        // Nobody has to listen.
        let _ = self.rule.hits.send(hit);
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.used
            && let Some(left) = self.rule.left.lock().unwrap_or_else(PoisonError::into_inner).as_mut()
        {
            *left += 1;
        }
    }
}

/// All armed faults of a proxy.
#[derive(Debug)]
pub(super) struct Book {
    rules: Mutex<Vec<Arc<Rule>>>,
    next: AtomicU64,
    changes: watch::Sender<u64>,
}

impl Book {
    pub(super) fn new() -> Self {
        Self { rules: Mutex::default(), next: AtomicU64::new(1), changes: watch::channel(0).0 }
    }

    /// Arms faults all at once: no byte passes between the first and the last of them.
    pub(super) fn arm(self: &Arc<Self>, faults: Vec<(ProxyFault, Times)>) -> Vec<Armed> {
        let now = Instant::now();
        let mut rules = self.lock();
        let armed: Vec<Armed> = faults
            .into_iter()
            .map(|(fault, times)| {
                let (tell, hits) = mpsc::unbounded_channel();
                let rule = Arc::new(Rule {
                    id: self.next.fetch_add(1, Ordering::Relaxed),
                    armed: now,
                    fault,
                    left: Mutex::new(match times {
                        Times::Once => Some(1),
                        Times::Exactly(count) => Some(count),
                        Times::Always => None,
                    }),
                    hits: tell,
                    released: watch::channel(false).0,
                    disarmed: watch::channel(false).0,
                });
                Armed { rule, book: Arc::clone(self), hits }
            })
            .collect();
        rules.extend(armed.iter().map(|armed| Arc::clone(&armed.rule)));
        drop(rules);
        self.changes.send_modify(|version| *version += 1);
        armed
    }

    pub(super) fn disarm(&self, rule: &Arc<Rule>) {
        rule.disarmed.send_replace(true);
        rule.open();
        self.lock().retain(|other| other.id != rule.id);
        self.changes.send_modify(|version| *version += 1);
    }

    /// Tells of every arming and disarming.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The faults of the network, in the order of their arming.
    pub(super) fn net(&self) -> Vec<(Arc<Rule>, NetFault)> {
        self.lock()
            .iter()
            .filter_map(|rule| match &rule.fault {
                ProxyFault::Net(fault) => Some((Arc::clone(rule), fault.clone())),
                ProxyFault::Http { .. } => None,
            })
            .collect()
    }

    /// The first fault that is meant for this request and has a hit left.
    pub(super) fn claim_for(&self, head: &RequestHead) -> Option<(Claim, HttpFault)> {
        self.lock().iter().find_map(|rule| match &rule.fault {
            ProxyFault::Http { matching, fault } if matching.takes(head) => {
                Some((rule.claim()?, fault.clone()))
            }
            _ => None,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Rule>>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Matching;

    fn hit() -> Hit {
        Hit { connection: 1, at: Instant::now(), request: None, passed: 0, status: None, second_status: None }
    }

    fn post() -> RequestHead {
        RequestHead { method: "POST".into(), target: "/jobs".into(), headers: Vec::new() }
    }

    fn hold(times: Times) -> Vec<(ProxyFault, Times)> {
        vec![(ProxyFault::Http { matching: Matching::method("POST"), fault: HttpFault::Hold }, times)]
    }

    #[test]
    fn a_claim_that_came_to_nothing_is_given_back() {
        let book = Arc::new(Book::new());
        let mut armed = book.arm(hold(Times::Once)).remove(0);
        let claim = book.claim_for(&post()).expect("one hit is there").0;
        assert!(book.claim_for(&post()).is_none(), "and not two");
        drop(claim);
        book.claim_for(&post()).expect("it is there again").0.hit(hit());
        assert!(book.claim_for(&post()).is_none(), "now it is used");
        assert!(armed.try_hit().is_some() && armed.try_hit().is_none(), "exactly one was told");
    }

    #[test]
    fn only_a_fault_whose_hit_is_left_stands_in_the_way_of_the_next() {
        let book = Arc::new(Book::new());
        let _first = book.arm(hold(Times::Once));
        let second = book.arm(hold(Times::Always)).remove(0);
        let one = book.claim_for(&post()).expect("the first").0;
        let two = book.claim_for(&post()).expect("the second").0;
        assert_ne!(one.rule().id, two.rule().id);
        drop(second);
        assert!(book.claim_for(&post()).is_none(), "a disarmed fault takes nothing");
        let other = RequestHead { method: "GET".into(), ..post() };
        drop(one);
        assert!(book.claim_for(&other).is_none(), "it is not meant for this one");
    }
}
