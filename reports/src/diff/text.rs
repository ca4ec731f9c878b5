use std::fmt;

use super::{Change, Diff};
use crate::text::{human, plain, verdict_word};

/// The diff for people: the worst first, each list with its heading, nothing where nothing changed.
impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        changes(f, "newly broken", &self.newly_broken)?;
        changes(f, "changed otherwise", &self.otherwise_changed)?;
        changes(f, "newly passing", &self.newly_passing)?;
        if !self.slower.is_empty() {
            writeln!(f, "slower ({})", self.slower.len())?;
            for slower in &self.slower {
                let (before, after) = (human::duration(slower.before_us), human::duration(slower.after_us));
                writeln!(f, "  {}: {before} → {after}", plain::one_line(&slower.cell))?;
            }
        }
        names(f, "only in the first run", &self.removed)?;
        names(f, "only in the second run", &self.added)?;
        if self.is_empty() {
            writeln!(f, "no difference in {}", human::count(self.compared, "cell"))?;
        }
        Ok(())
    }
}

fn changes(f: &mut fmt::Formatter<'_>, heading: &str, changes: &[Change]) -> fmt::Result {
    if changes.is_empty() {
        return Ok(());
    }
    writeln!(f, "{heading} ({})", changes.len())?;
    for change in changes {
        let before = change.before.map_or("new", verdict_word);
        writeln!(f, "  {}: {before} → {}", plain::one_line(&change.cell), verdict_word(change.after))?;
        if !change.sentence.is_empty() {
            writeln!(f, "    {}", plain::one_line(&change.sentence))?;
        }
        writeln!(f, "    {}", plain::one_line(&change.replay))?;
    }
    Ok(())
}

fn names(f: &mut fmt::Formatter<'_>, heading: &str, names: &[String]) -> fmt::Result {
    if names.is_empty() {
        return Ok(());
    }
    writeln!(f, "{heading} ({})", names.len())?;
    names.iter().try_for_each(|name| writeln!(f, "  {}", plain::one_line(name)))
}
