//! One session: which statements its messages carry out, and which of these changed the database.

use std::collections::{HashMap, VecDeque};

use super::message::Message;

/// What a service said to the database at once, up to where it waits for the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    /// The statement; none where nothing is carried out, such as when one is only prepared.
    pub(super) statement: Option<String>,
}

/// What a message of the service is part of.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Something that goes on.
    More,
    /// Something that has to be passed on as it comes, such as a copy's data.
    PassOn,
    /// The end of something to which there will be an answer.
    Unit(Unit),
}

/// What a message of the database is part of.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Something that goes on.
    More,
    /// Something that the service needs before the answer's end, such as the wish to have a copy's data.
    PassOn,
    /// The end of the answer to a unit.
    End(Ended),
}

/// How a unit ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ended {
    /// The statement; none where nothing was carried out.
    pub(super) statement: Option<String>,
    /// Whether it changed something, or committed a transaction that had.
    pub(super) counts: bool,
}

/// The memory of one session.
#[derive(Debug, Default)]
pub(super) struct Session {
    prepared: HashMap<String, String>,
    portals: HashMap<String, String>,
    /// Statements of the unit that is being said.
    carried_out: Vec<String>,
    /// The last statement that was said, for what a commit is about.
    last: Option<String>,
    /// Units that are not answered yet, each by its statement.
    open: VecDeque<Option<String>>,
    changed: bool,
    failed: bool,
    /// The transaction that is open has changed something.
    dirty: bool,
}

impl Session {
    /// Takes note of a message of the service.
    pub(super) fn said(&mut self, message: Message<'_>) -> Said {
        match message.kind {
            b'P' => {
                if let Some((name, at)) = message.text(0)
                    && let Some((text, _)) = message.text(at)
                {
                    self.prepared.insert(name.to_owned(), text.to_owned());
                }
                Said::More
            }
            b'B' => {
                if let Some((portal, at)) = message.text(0)
                    && let Some((name, _)) = message.text(at)
                {
                    let text = self.prepared.get(name).cloned().unwrap_or_default();
                    self.portals.insert(portal.to_owned(), text);
                }
                Said::More
            }
            b'E' => {
                let text = message.text(0).and_then(|(portal, _)| self.portals.get(portal)).cloned();
                self.carried_out.push(text.unwrap_or_default());
                Said::More
            }
            b'Q' => {
                let text = message.text(0).map(|(text, _)| text.to_owned());
                self.carried_out.push(text.unwrap_or_default());
                Said::Unit(self.unit())
            }
            b'S' => Said::Unit(self.unit()),
            // Describe and Close belong to what is being said.
            b'D' | b'C' => Said::More,
            _ => Said::PassOn,
        }
    }

    fn unit(&mut self) -> Unit {
        let said: Vec<String> = std::mem::take(&mut self.carried_out);
        let statement = (!said.is_empty()).then(|| named(&said.join("; "), self.last.as_deref()));
        if statement.is_some() {
            self.last.clone_from(&statement);
        }
        Unit { statement }
    }

    /// Takes note that a unit goes to the database.
    pub(super) fn sent(&mut self, unit: Unit) {
        self.open.push_back(unit.statement);
    }

    /// Whether the service waits for the end of an answer.
    pub(super) fn is_waiting(&self) -> bool {
        !self.open.is_empty()
    }

    /// Takes note of a message of the database.
    pub(super) fn heard(&mut self, message: Message<'_>) -> Heard {
        match message.kind {
            b'C' => {
                let tag = message.text(0).map_or("", |(tag, _)| tag);
                let statement = self.open.front().and_then(Option::as_deref).unwrap_or_default();
                self.changed |= changes(statement, tag);
                Heard::More
            }
            b'E' => {
                self.failed = true;
                Heard::More
            }
            b'G' | b'W' => Heard::PassOn,
            b'Z' => {
                let in_transaction = message.body.first().is_some_and(|status| *status != b'I');
                let statement = self.open.pop_front().flatten();
                let (changed, failed) = (std::mem::take(&mut self.changed), std::mem::take(&mut self.failed));
                let commits = self.dirty && statement.as_deref().is_some_and(is_commit);
                let counts = statement.is_some() && !failed && (changed || commits);
                self.dirty = in_transaction && (self.dirty || changed);
                Heard::End(Ended { statement, counts })
            }
            _ => Heard::More,
        }
    }
}

/// A statement in one line. A commit is known by what it commits, since nothing else tells one from another.
fn named(text: &str, last: Option<&str>) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match last {
        Some(last) if is_commit(&line) => format!("COMMIT after {last}"),
        _ => line,
    }
}

fn is_commit(line: &str) -> bool {
    let word = line.split([' ', ';']).next().unwrap_or_default();
    word.eq_ignore_ascii_case("COMMIT") || word.eq_ignore_ascii_case("END")
}

/// Whether a statement that ended with this tag changed rows. `INSERT 0 1`, `UPDATE 3`; a query that begins with `WITH`
/// may write and still say `SELECT 1`.
fn changes(statement: &str, tag: &str) -> bool {
    let mut words = tag.split(' ');
    let verb = words.next().unwrap_or_default();
    let rows = words.next_back().is_some_and(|rows| rows != "0");
    let writes = || {
        let text = statement.to_ascii_uppercase();
        text.starts_with("WITH")
            && ["INSERT INTO", "UPDATE ", "DELETE FROM"].iter().any(|verb| text.contains(verb))
    };
    rows && (matches!(verb, "INSERT" | "UPDATE" | "DELETE" | "MERGE") || verb == "SELECT" && writes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, body: &[u8]) -> Message<'_> {
        Message { kind, body }
    }

    fn query(session: &mut Session, text: &str, tag: &str, status: u8) -> Ended {
        let body = format!("{text}\0");
        let Said::Unit(unit) = session.said(message(b'Q', body.as_bytes())) else { panic!("no unit") };
        session.sent(unit);
        let tag = format!("{tag}\0");
        assert_eq!(session.heard(message(b'C', tag.as_bytes())), Heard::More);
        let Heard::End(ended) = session.heard(message(b'Z', &[status])) else { panic!("no end") };
        ended
    }

    #[test]
    fn only_what_changed_something_counts_and_the_commit_of_it() {
        let mut session = Session::default();
        assert!(!query(&mut session, "BEGIN", "BEGIN", b'T').counts);
        assert!(!query(&mut session, "SELECT 1 FOR UPDATE", "SELECT 1", b'T').counts);
        assert!(!query(&mut session, "UPDATE a SET b = 1", "UPDATE 0", b'T').counts);
        assert!(query(&mut session, "UPDATE a SET b = 2", "UPDATE 1", b'T').counts);
        assert!(!query(&mut session, "SELECT 2", "SELECT 1", b'T').counts);
        let end = query(&mut session, "COMMIT", "COMMIT", b'I');
        assert_eq!(end, Ended { statement: Some("COMMIT after SELECT 2".to_owned()), counts: true });
        assert!(!query(&mut session, "BEGIN", "BEGIN", b'T').counts);
        assert!(!query(&mut session, "COMMIT", "COMMIT", b'I').counts, "nothing to commit");
        assert!(query(&mut session, "WITH a AS (INSERT INTO b) SELECT 1", "SELECT 1", b'I').counts);
    }

    #[test]
    fn a_prepared_statement_is_known_by_its_text_and_preparing_it_is_no_point() {
        let mut session = Session::default();
        assert_eq!(session.said(message(b'P', b"s1\0DELETE  FROM a\0\0\0")), Said::More);
        assert_eq!(session.said(message(b'D', b"Ss1\0")), Said::More);
        assert_eq!(session.said(message(b'S', b"")), Said::Unit(Unit { statement: None }));
        assert_eq!(session.said(message(b'B', b"\0s1\0\0\0\0\0\0\0")), Said::More);
        assert_eq!(session.said(message(b'E', b"\0\0\0\0\0")), Said::More);
        let unit = Unit { statement: Some("DELETE FROM a".to_owned()) };
        assert_eq!(session.said(message(b'S', b"")), Said::Unit(unit));
    }

    #[test]
    fn what_failed_changed_nothing() {
        let mut session = Session::default();
        let Said::Unit(unit) = session.said(message(b'Q', b"INSERT\0")) else { panic!("no unit") };
        session.sent(unit);
        assert_eq!(session.heard(message(b'E', b"")), Heard::More);
        let Heard::End(ended) = session.heard(message(b'Z', b"I")) else { panic!("no end") };
        assert!(!ended.counts);
    }
}
