use similar::{ChangeTag, TextDiff};

/// Lines around a difference that are shown with it.
const AROUND: usize = 3;

/// Two texts, line by line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compare {
    /// What the left text is.
    pub left_title: String,
    /// What the right text is.
    pub right_title: String,
    /// The left text.
    pub left: String,
    /// The right text.
    pub right: String,
}

/// Which side a line is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Both,
    Left,
    Right,
    /// Lines that are the same were left out here.
    Gap,
}

impl Side {
    pub(super) fn sign(self) -> char {
        match self {
            Self::Both => ' ',
            Self::Left => '-',
            Self::Right => '+',
            Self::Gap => '⋯',
        }
    }
}

impl Compare {
    /// Two texts with what they are.
    pub fn new(
        left_title: impl Into<String>,
        left: impl Into<String>,
        right_title: impl Into<String>,
        right: impl Into<String>,
    ) -> Self {
        Self {
            left_title: left_title.into(),
            right_title: right_title.into(),
            left: left.into(),
            right: right.into(),
        }
    }

    /// The lines that differ with those around them, in order; nothing where the texts are the same.
    pub(super) fn lines(&self) -> Vec<(Side, String)> {
        let diff = TextDiff::from_lines(&self.left, &self.right);
        let mut lines = Vec::new();
        for (index, group) in diff.grouped_ops(AROUND).iter().enumerate() {
            if index > 0 {
                lines.push((Side::Gap, String::new()));
            }
            for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
                let side = match change.tag() {
                    ChangeTag::Equal => Side::Both,
                    ChangeTag::Delete => Side::Left,
                    ChangeTag::Insert => Side::Right,
                };
                lines.push((side, change.value().trim_end_matches(['\n', '\r']).to_owned()));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::{Compare, Side};

    #[test]
    fn only_what_differs_is_shown_with_a_little_around_it() {
        let numbered: Vec<String> = (0..40).map(|n| format!("line {n}\n")).collect();
        let left = numbered.concat();
        let right = left.replace("line 5\n", "line five\n").replace("line 30\n", "");
        let lines = Compare::new("a", left, "b", right).lines();
        let changed: Vec<(Side, &str)> = lines
            .iter()
            .filter(|(side, _)| *side != Side::Both)
            .map(|(side, text)| (*side, text.as_str()))
            .collect();
        assert_eq!(
            changed,
            [(Side::Left, "line 5"), (Side::Right, "line five"), (Side::Gap, ""), (Side::Left, "line 30")]
        );
        assert_eq!(lines.len(), 4 + 12);
    }

    #[test]
    fn equal_texts_have_no_lines() {
        assert!(Compare::new("a", "x\ny\n", "b", "x\ny\n").lines().is_empty());
    }
}
