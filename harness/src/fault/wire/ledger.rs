//! What all connections of a service said to the database, counted together; and the one point at which all of them halt.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{oneshot, watch};

/// Characters of a statement that people are shown.
const SHOWN: usize = 72;

/// On which side of a statement the conversation halts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The database never gets the statement.
    Before,
    /// The database has carried it out, and the service never learns.
    After,
}

/// A statement that made a difference to the database: the `nth` of its text that did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// The statement in one line; a commit is known by the statement before it.
    pub statement: String,
    /// Which of them, from 1. Those that changed nothing are not counted.
    pub nth: u32,
    /// What must have happened before it, so that an idle look into a queue isn't taken for the one that finds something.
    since: Option<(String, u32)>,
}

impl fmt::Display for Point {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown: String = self.statement.chars().take(SHOWN).collect();
        if shown.len() < self.statement.len() {
            shown.push('…');
        }
        match self.nth {
            1 => write!(out, "`{shown}`"),
            nth => write!(out, "`{shown}` (number {nth})"),
        }
    }
}

/// Where the conversation is to halt, and whom to tell.
#[derive(Debug)]
struct Halt {
    point: Point,
    moment: Moment,
    tell: oneshot::Sender<()>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Statements that made a difference, by their text.
    counted: HashMap<String, u32>,
    /// The same in their order.
    heard: Vec<(String, u32)>,
    /// Texts of statements that at least once made none.
    idle: HashMap<String, u32>,
    halt: Option<Halt>,
    /// Connections from before the last halt say nothing any more.
    era: u64,
}

/// Counts what is said, and halts it.
#[derive(Debug)]
pub(super) struct Ledger {
    counts: Mutex<Counts>,
    /// True from a halt until it is lifted: nobody is let in.
    closed: watch::Sender<bool>,
}

impl Ledger {
    pub(super) fn new() -> Self {
        Self { counts: Mutex::default(), closed: watch::Sender::new(false) }
    }

    /// Forgets what was counted.
    pub(super) fn begin(&self) {
        let mut counts = self.lock();
        *counts = Counts { era: counts.era, ..Counts::default() };
    }

    /// The points that were passed since [`Ledger::begin`], in their order.
    pub(super) fn points(&self) -> Vec<Point> {
        let counts = self.lock();
        let mut before: Option<&(String, u32)> = None;
        let mut points = Vec::with_capacity(counts.heard.len());
        for passed in &counts.heard {
            let since = before.filter(|_| counts.idle.contains_key(&passed.0)).cloned();
            points.push(Point { statement: passed.0.clone(), nth: passed.1, since });
            before = Some(passed);
        }
        points
    }

    /// Halts everything at a point, once. The receiver is told when that happens.
    pub(super) fn halt_at(&self, point: Point, moment: Moment) -> oneshot::Receiver<()> {
        let (tell, told) = oneshot::channel();
        let mut counts = self.lock();
        *counts = Counts { era: counts.era, halt: Some(Halt { point, moment, tell }), ..Counts::default() };
        told
    }

    /// Takes a halt back that did not happen.
    pub(super) fn take_back(&self) {
        self.lock().halt = None;
    }

    /// Lets connections in again after a halt.
    pub(super) fn go_on(&self) {
        self.closed.send_replace(false);
    }

    /// Waits until connections are let in; the era that a new one belongs to.
    pub(super) async fn enter(&self) -> u64 {
        // The sender lives in this ledger, so waiting can't fail.
        let _ = self.closed.subscribe().wait_for(|closed| !*closed).await;
        self.lock().era
    }

    /// Whether a statement may go to the database.
    pub(super) fn may_go(&self, era: u64, statement: Option<&str>) -> bool {
        let mut counts = self.lock();
        if counts.era != era {
            return false;
        }
        let hit = counts.halt.as_ref().zip(statement).is_some_and(|(halt, statement)| {
            let count = |text: &str| counts.counted.get(text).copied().unwrap_or(0);
            halt.moment == Moment::Before
                && halt.point.statement == statement
                && count(statement) + 1 == halt.point.nth
                && halt.point.since.as_ref().is_none_or(|(text, nth)| count(text) >= *nth)
        });
        if hit {
            self.close(&mut counts);
        }
        !hit
    }

    /// Takes note of a statement that was carried out; whether its answer may go to the service.
    pub(super) fn may_return(&self, era: u64, statement: Option<&str>, difference: bool) -> bool {
        let mut counts = self.lock();
        if counts.era != era {
            return false;
        }
        let Some(statement) = statement else { return true };
        if !difference {
            *counts.idle.entry(statement.to_owned()).or_default() += 1;
            return true;
        }
        let count = counts.counted.entry(statement.to_owned()).or_default();
        *count += 1;
        let count = *count;
        counts.heard.push((statement.to_owned(), count));
        let hit = counts.halt.as_ref().is_some_and(|halt| {
            halt.moment == Moment::After && halt.point.statement == statement && halt.point.nth == count
        });
        if hit {
            self.close(&mut counts);
        }
        !hit
    }

    fn close(&self, counts: &mut Counts) {
        counts.era += 1;
        self.closed.send_replace(true);
        if let Some(halt) = counts.halt.take() {
            // Whoever does not wait any more has given the halt up.
            let _ = halt.tell.send(());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says a statement as a connection of this era would; whether it was answered.
    fn say(ledger: &Ledger, era: u64, statement: &str, difference: bool) -> bool {
        ledger.may_go(era, Some(statement)) && ledger.may_return(era, Some(statement), difference)
    }

    fn rehearsed() -> (Ledger, Vec<Point>) {
        let ledger = Ledger::new();
        ledger.begin();
        for (statement, difference) in
            [("look", false), ("insert", true), ("look", true), ("look", false), ("insert", true)]
        {
            assert!(say(&ledger, 0, statement, difference));
        }
        let points = ledger.points();
        (ledger, points)
    }

    #[test]
    fn points_are_what_made_a_difference_in_its_order() {
        let (_, points) = rehearsed();
        let points: Vec<_> = points.iter().map(|point| (point.statement.as_str(), point.nth)).collect();
        assert_eq!(points, [("insert", 1), ("look", 1), ("insert", 2)]);
    }

    #[test]
    fn everything_halts_before_a_point_and_idle_looks_are_not_it() {
        let (ledger, points) = rehearsed();
        let mut told = ledger.halt_at(points[1].clone(), Moment::Before);
        assert!(say(&ledger, 0, "look", false), "the queue is empty yet");
        assert!(say(&ledger, 0, "insert", true));
        assert!(told.try_recv().is_err());
        assert!(!say(&ledger, 0, "look", true), "this is the one");
        assert!(told.try_recv().is_ok());
        assert!(!say(&ledger, 0, "other", true), "the others are silent too");
        assert!(say(&ledger, 1, "other", true), "a new connection is not");
    }

    #[test]
    fn everything_halts_after_a_point_that_was_carried_out() {
        let (ledger, points) = rehearsed();
        let mut told = ledger.halt_at(points[2].clone(), Moment::After);
        assert!(say(&ledger, 0, "insert", true));
        assert!(ledger.may_go(0, Some("insert")), "it goes to the database");
        assert!(!ledger.may_return(0, Some("insert"), true), "and its answer goes nowhere");
        assert!(told.try_recv().is_ok());
    }

    #[test]
    fn a_halt_that_was_taken_back_does_not_happen() {
        let (ledger, points) = rehearsed();
        let mut told = ledger.halt_at(points[0].clone(), Moment::Before);
        ledger.take_back();
        assert!(say(&ledger, 0, "insert", true));
        assert!(told.try_recv().is_err());
    }
}
