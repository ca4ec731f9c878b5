use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Hit;
use super::book::{Book, Rule};
use super::kinds::{Direction, Ending, NetFault, When};
use super::side::Writer;

/// The pace of a throttled direction: small enough to look like a slow line.
const SLICES_A_SECOND: u32 = 20;

/// Why a connection does not go on.
#[derive(Debug)]
pub(super) enum Stop {
    /// A fault ends it.
    Cut(Ending),
    /// One of its sides failed.
    Io(#[expect(dead_code, reason = "shown by Debug alone")] io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// One direction of a connection, and what the faults of the network make of its bytes.
#[derive(Debug)]
pub(super) struct Shaper {
    book: Arc<Book>,
    connection: u64,
    direction: Direction,
    passed: u64,
    met: HashMap<u64, Met>,
}

/// A fault as this direction has met it.
#[derive(Debug, Clone, Copy)]
struct Met {
    /// What had been passed on when it was met.
    base: u64,
    /// A lasting fault lies on this connection.
    mine: bool,
}

/// What happens to the next bytes.
#[derive(Debug, Default)]
struct Course {
    delay: Duration,
    rate: Option<u32>,
    cut: Option<(u64, Ending, Arc<Rule>)>,
}

impl Shaper {
    pub(super) fn new(book: Arc<Book>, connection: u64, direction: Direction) -> Self {
        let mut shaper = Self { book, connection, direction, passed: 0, met: HashMap::new() };
        shaper.meet();
        shaper
    }

    /// Takes note of new faults, so that they count from here. Called before anything that came later is passed on.
    pub(super) fn meet(&mut self) {
        for (rule, _) in self.book.net() {
            self.met.entry(rule.id).or_insert(Met { base: self.passed, mine: false });
        }
    }

    /// Passes bytes on, or does not, as the faults want it.
    pub(super) async fn pass(&mut self, to: &mut Writer, bytes: &[u8]) -> Result<(), Stop> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.meet();
        if self.vanishes() {
            return Ok(());
        }
        let course = self.course(bytes.len());
        if !course.delay.is_zero() {
            tokio::time::sleep(course.delay).await;
        }
        if let Some((limit, ending, rule)) = course.cut
            && let Some(claim) = rule.claim()
        {
            let through =
                usize::try_from(limit.saturating_sub(self.passed)).unwrap_or(usize::MAX).min(bytes.len());
            self.send(to, &bytes[..through], course.rate).await?;
            claim.hit(self.hit());
            return Err(Stop::Cut(ending));
        }
        self.send(to, bytes, course.rate).await
    }

    /// Passes the end of a direction on. One whose bytes vanish has no end either.
    pub(super) async fn end(&mut self, to: &mut Writer) -> Result<(), Stop> {
        self.meet();
        let mut changes = self.book.changes();
        while self.vanishes() {
            // The book outlives its connections.
            let _ = changes.changed().await;
        }
        Ok(to.finish().await?)
    }

    fn vanishes(&mut self) -> bool {
        let here = NetFault::Blackhole { direction: self.direction };
        let rules: Vec<Arc<Rule>> =
            self.book.net().into_iter().filter(|(_, fault)| *fault == here).map(|(rule, _)| rule).collect();
        rules.iter().any(|rule| self.met.get(&rule.id).copied().is_some_and(|met| self.lies_here(rule, met)))
    }

    fn course(&mut self, length: usize) -> Course {
        let end = self.passed.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
        let mut course = Course::default();
        for (rule, fault) in self.book.net() {
            let Some(met) = self.met.get(&rule.id).copied() else { continue };
            match fault {
                NetFault::Cut { when: When::Bytes { direction, count }, ending }
                    if direction == self.direction =>
                {
                    let limit = met.base.saturating_add(count);
                    if end >= limit && course.cut.as_ref().is_none_or(|(nearest, ..)| limit < *nearest) {
                        course.cut = Some((limit, ending, rule));
                    }
                }
                NetFault::Delay { direction, by }
                    if direction == self.direction && self.lies_here(&rule, met) =>
                {
                    course.delay += by;
                }
                NetFault::Throttle { direction, rate }
                    if direction == self.direction && self.lies_here(&rule, met) =>
                {
                    course.rate = Some(course.rate.map_or(rate.get(), |slower| slower.min(rate.get())));
                }
                _ => {}
            }
        }
        course
    }

    /// Whether a lasting fault is on this connection; it hits when it begins to be.
    fn lies_here(&mut self, rule: &Arc<Rule>, met: Met) -> bool {
        if met.mine {
            return true;
        }
        let Some(claim) = rule.claim() else { return false };
        claim.hit(self.hit());
        self.met.insert(rule.id, Met { mine: true, ..met });
        true
    }

    async fn send(&mut self, to: &mut Writer, bytes: &[u8], rate: Option<u32>) -> Result<(), Stop> {
        let Some(rate) = rate else { return self.write(to, bytes).await };
        let slice = usize::try_from(rate / SLICES_A_SECOND).unwrap_or(usize::MAX).max(1);
        for part in bytes.chunks(slice) {
            let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
            tokio::time::sleep(Duration::from_secs_f64(f64::from(length) / f64::from(rate))).await;
            self.write(to, part).await?;
        }
        Ok(())
    }

    async fn write(&mut self, to: &mut Writer, bytes: &[u8]) -> Result<(), Stop> {
        to.write(bytes).await?;
        self.passed = self.passed.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok(())
    }

    /// A hit here and now.
    pub(super) fn hit(&self) -> Hit {
        Hit {
            connection: self.connection,
            at: Instant::now(),
            request: None,
            passed: self.passed,
            status: None,
            second_status: None,
        }
    }
}

/// Waits for a cut by the clock to fall on this connection.
pub(super) async fn cut_by_the_clock(book: &Arc<Book>, connection: u64, begun: Instant) -> Stop {
    let mut changes = book.changes();
    loop {
        let next = book
            .net()
            .into_iter()
            .filter_map(|(rule, fault)| match fault {
                NetFault::Cut { when: When::After(time), ending } => {
                    Some((rule.armed.max(begun) + time, ending, rule))
                }
                _ => None,
            })
            .filter(|(.., rule)| rule.has_hits_left())
            .min_by_key(|(when, ..)| *when);
        let Some((when, ending, rule)) = next else {
            // The book outlives its connections.
            let _ = changes.changed().await;
            continue;
        };
        tokio::select! {
            () = tokio::time::sleep_until(when.into()) => {
                if let Some(claim) = rule.claim() {
                    let at = Instant::now();
                    claim.hit(Hit { connection, at, request: None, passed: 0, status: None, second_status: None });
                    return Stop::Cut(ending);
                }
            }
            _ = changes.changed() => {}
        }
    }
}

/// Whether a new connection is to be refused.
pub(super) fn is_refused(book: &Book, connection: u64) -> bool {
    book.net().into_iter().any(|(rule, fault)| {
        fault == NetFault::Refuse
            && rule.claim().is_some_and(|claim| {
                let at = Instant::now();
                claim.hit(Hit {
                    connection,
                    at,
                    request: None,
                    passed: 0,
                    status: None,
                    second_status: None,
                });
                true
            })
    })
}
