/// The entity tag of a job: its version in quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntityTag(pub i64);

impl std::fmt::Display for EntityTag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

/// What an `If-Match` header asks for (RFC 9110, section 13.1.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IfMatch {
    /// `*`: any version.
    Any,
    /// One of these; a weak tag never matches and is not listed.
    OneOf(Vec<String>),
}

impl IfMatch {
    /// Reads the value of the header.
    #[must_use]
    pub fn parse(value: &str) -> Self {
        if value.trim() == "*" {
            return Self::Any;
        }
        Self::OneOf(
            value.split(',').map(|tag| tag.trim().to_owned()).filter(|tag| tag.starts_with('"')).collect(),
        )
    }

    /// Whether a job of that version is what the caller means.
    #[must_use]
    pub fn allows(&self, version: i64) -> bool {
        match self {
            Self::Any => true,
            Self::OneOf(tags) => tags.contains(&EntityTag(version).to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_strong_tag_of_this_version_matches() {
        for (header, allowed) in [
            ("\"3\"", true),
            ("\"2\", \"3\"", true),
            ("*", true),
            ("\"2\"", false),
            ("W/\"3\"", false),
            ("3", false),
            ("", false),
        ] {
            assert_eq!(IfMatch::parse(header).allows(3), allowed, "{header}");
        }
    }
}
