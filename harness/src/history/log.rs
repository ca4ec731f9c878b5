//! A whole history: in memory while it is short; of a long one, what is settled lies in a file.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _},
    path::PathBuf,
};

use super::Event;

/// Events that may be in memory before the settled ones go to a file. Few scenarios have as many; those that have play many
/// rounds, and a round is judged by its own events alone.
const MOST_IN_MEMORY: usize = 4_096;

/// Events in the order of their numbers.
#[derive(Debug, Default)]
pub struct History {
    settled: Option<Lines>,
    recent: Vec<Event>,
}

/// Events in a file, one a line.
#[derive(Debug)]
struct Lines {
    place: Place,
    /// In the order of the file.
    stretches: Vec<Stretch>,
    end: u64,
    count: u64,
}

#[derive(Debug)]
enum Place {
    /// Nobody else knows it, and it is gone with the process.
    Unnamed(File),
    /// Opened whenever it is read: a store has more histories than a process may have open files.
    Named(PathBuf),
}

/// Neighbouring lines of one round.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    round: u32,
    from: u64,
    bytes: u64,
}

impl From<Vec<Event>> for History {
    fn from(events: Vec<Event>) -> Self {
        Self { settled: None, recent: events }
    }
}

impl History {
    /// A history that stays in its file. `lines` are the round and the length in bytes of each line from `begin` on, line
    /// break included.
    #[must_use]
    pub fn in_file(path: PathBuf, begin: u64, lines: impl IntoIterator<Item = (u32, u64)>) -> Self {
        let mut written = Lines { place: Place::Named(path), stretches: Vec::new(), end: begin, count: 0 };
        for (round, bytes) in lines {
            written.add(round, bytes);
        }
        Self { settled: Some(written), recent: Vec::new() }
    }

    /// How many events there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.in_files() + self.recent.len() as u64
    }

    /// Whether nothing happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many events are in memory.
    #[must_use]
    pub fn in_memory(&self) -> usize {
        self.recent.len()
    }

    /// How many events are not.
    pub(super) fn in_files(&self) -> u64 {
        self.settled.as_ref().map_or(0, |lines| lines.count)
    }

    /// The events that are in memory: the last ones, or all.
    pub(super) fn recent(&self) -> &[Event] {
        &self.recent
    }

    pub(super) fn push(&mut self, event: Event) {
        self.recent.push(event);
    }

    /// Puts what is in memory into a file, where it is much. What can't be written stays.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        if self.recent.len() < MOST_IN_MEMORY {
            return Ok(());
        }
        let lines = match &mut self.settled {
            Some(lines) => lines,
            none => none.insert(Lines {
                place: Place::Unnamed(tempfile::tempfile()?),
                stretches: Vec::new(),
                end: 0,
                count: 0,
            }),
        };
        lines.append(&self.recent)?;
        // With its room: the next rounds need as much again only where they are as long.
        self.recent = Vec::new();
        Ok(())
    }

    /// Shows every event, in order.
    pub fn each(&self, mut look: impl FnMut(&Event)) -> io::Result<()> {
        if let Some(lines) = &self.settled {
            lines.read(lines.stretches.iter().copied(), &mut |event| look(&event))?;
        }
        self.recent.iter().for_each(look);
        Ok(())
    }

    /// Shows the events of each round, in the order of the rounds; those of no round are left out. No more than one round is
    /// in memory at a time.
    pub fn each_round(&self, mut look: impl FnMut(u32, &[Event])) -> io::Result<()> {
        let mut rounds: BTreeMap<u32, (Vec<Stretch>, Vec<&Event>)> = BTreeMap::new();
        for stretch in self.settled.iter().flat_map(|lines| &lines.stretches) {
            rounds.entry(stretch.round).or_default().0.push(*stretch);
        }
        for event in &self.recent {
            rounds.entry(event.round).or_default().1.push(event);
        }
        rounds.remove(&0);
        for (round, (stretches, recent)) in rounds {
            let mut events = self.read(stretches)?;
            events.extend(recent.into_iter().cloned());
            look(round, &events);
        }
        Ok(())
    }

    /// The events of one round.
    pub fn round(&self, number: u32) -> io::Result<Vec<Event>> {
        let stretches = self.settled.iter().flat_map(|lines| &lines.stretches);
        let mut events = self.read(stretches.filter(|stretch| stretch.round == number).copied())?;
        events.extend(self.recent.iter().filter(|event| event.round == number).cloned());
        Ok(events)
    }

    /// The round in which the last event happened; 0 where there is none.
    #[must_use]
    pub fn last_round(&self) -> u32 {
        let settled = || self.settled.as_ref()?.stretches.last().map(|stretch| stretch.round);
        self.recent.last().map(|event| event.round).or_else(settled).unwrap_or(0)
    }

    fn read(&self, stretches: impl IntoIterator<Item = Stretch>) -> io::Result<Vec<Event>> {
        let mut events = Vec::new();
        if let Some(lines) = &self.settled {
            lines.read(stretches, &mut |event| events.push(event))?;
        }
        Ok(events)
    }
}

impl Lines {
    fn add(&mut self, round: u32, bytes: u64) {
        match self.stretches.last_mut() {
            Some(last) if last.round == round => last.bytes += bytes,
            _ => self.stretches.push(Stretch { round, from: self.end, bytes }),
        }
        self.end += bytes;
        self.count += 1;
    }

    /// Writes at the end. Where that fails nothing is counted, and the next try writes over it.
    fn append(&mut self, events: &[Event]) -> io::Result<()> {
        let Place::Unnamed(file) = &mut self.place else { return Err(io::ErrorKind::Unsupported.into()) };
        file.seek(SeekFrom::Start(self.end))?;
        let mut out = io::BufWriter::new(file);
        let mut written = Vec::with_capacity(events.len());
        for event in events {
            let mut line = serde_json::to_vec(event)?;
            line.push(b'\n');
            out.write_all(&line)?;
            written.push((event.round, line.len() as u64));
        }
        out.flush()?;
        drop(out);
        for (round, bytes) in written {
            self.add(round, bytes);
        }
        Ok(())
    }

    fn read(
        &self,
        stretches: impl IntoIterator<Item = Stretch>,
        look: &mut dyn FnMut(Event),
    ) -> io::Result<()> {
        let mut stretches = stretches.into_iter().peekable();
        if stretches.peek().is_none() {
            return Ok(());
        }
        let opened;
        let file = match &self.place {
            Place::Unnamed(file) => file,
            Place::Named(path) => {
                opened = File::open(path)?;
                &opened
            }
        };
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        for stretch in stretches {
            reader.seek(SeekFrom::Start(stretch.from))?;
            let mut left = stretch.bytes;
            while left > 0 {
                line.clear();
                let read = reader.read_until(b'\n', &mut line)? as u64;
                if read == 0 || read > left {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                left -= read;
                look(serde_json::from_slice(&line)?);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Kind;

    fn event(seq: u64, round: u32) -> Event {
        Event { seq, at_us: seq, round, kind: Kind::RoundEnded }
    }

    /// Rounds of a thousand events, each with one that comes when the round is over, settled after each round.
    fn long() -> (History, Vec<Event>) {
        let (mut history, mut all) = (History::default(), Vec::new());
        for round in 1..=20_u32 {
            for at in 0..1_000 {
                let late = at == 500 && round > 1;
                let event = event(all.len() as u64, if late { round - 1 } else { round });
                all.push(event.clone());
                history.push(event);
            }
            history.settle().unwrap();
            assert!(history.in_memory() < MOST_IN_MEMORY, "{}", history.in_memory());
        }
        (history, all)
    }

    #[test]
    fn what_is_settled_is_read_back_in_order_and_is_not_in_memory() {
        let (history, all) = long();
        assert!(history.in_files() > 10_000, "so there is a file to read");
        let mut read = Vec::new();
        history.each(|event| read.push(event.clone())).unwrap();
        assert_eq!((history.len(), read), (all.len() as u64, all));
        assert_eq!(history.last_round(), 20);
    }

    #[test]
    fn a_round_has_what_came_late_too() {
        let (history, all) = long();
        let of = |round: u32| -> Vec<Event> { all.iter().filter(|e| e.round == round).cloned().collect() };
        let mut rounds = Vec::new();
        history
            .each_round(|round, events| {
                assert_eq!(events, of(round), "{round}");
                rounds.push(round);
            })
            .unwrap();
        assert_eq!(rounds, (1..=20).collect::<Vec<_>>());
        assert_eq!(history.round(7).unwrap(), of(7));
        assert_eq!(history.round(99).unwrap(), []);
    }

    #[test]
    fn what_belongs_to_the_whole_cell_is_of_no_round() {
        let history = History::from(vec![event(0, 0), event(1, 1), event(2, 0)]);
        let mut rounds = Vec::new();
        history.each_round(|round, events| rounds.push((round, events.len()))).unwrap();
        assert_eq!(rounds, [(1, 1)]);
    }

    #[test]
    fn a_history_stays_in_its_file_and_a_file_that_has_shrunk_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        let events = [event(0, 0), event(1, 1), event(2, 1), event(3, 2)];
        let lines: Vec<String> =
            events.iter().map(|event| format!("{}\n", serde_json::to_string(event).unwrap())).collect();
        std::fs::write(&path, format!("a head\n{}", lines.concat())).unwrap();
        let places = events.iter().zip(&lines).map(|(event, line)| (event.round, line.len() as u64));
        let history = History::in_file(path.clone(), 7, places);
        assert_eq!((history.len(), history.in_memory()), (4, 0));
        assert_eq!(history.round(1).unwrap(), events[1..3]);
        File::options().write(true).open(&path).unwrap().set_len(40).unwrap();
        assert!(history.each(|_| ()).is_err());
    }
}
