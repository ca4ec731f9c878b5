//! What the strict pass rejects.

use crate::verdict::Code;

/// Why a text is not strict JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// A backslash followed by something that is no escape.
    Escape,
    /// A raw control character inside a string.
    ControlCharacter,
    /// Half of a surrogate pair.
    LoneSurrogate,
    /// The same key twice in one object.
    DuplicateKey,
    /// Something after the value.
    TrailingData,
    /// The text ends inside the value.
    UnexpectedEnd,
    /// A number that JSON does not know, or that no double can hold.
    Number,
    /// Nested deeper than any sane answer.
    Depth,
    /// Anything else that the grammar forbids.
    Syntax,
}

impl TroubleKind {
    /// The code that a sample with this trouble fails with.
    #[must_use]
    pub fn code(self) -> Code {
        Code::new(match self {
            Self::Escape => "invalid_json:escape",
            Self::ControlCharacter => "invalid_json:control_character",
            Self::LoneSurrogate => "invalid_unicode",
            Self::DuplicateKey => "duplicate_key",
            Self::TrailingData => "trailing_data",
            Self::UnexpectedEnd => "invalid_json:unexpected_end",
            Self::Number => "invalid_json:number",
            Self::Depth => "invalid_json:depth",
            Self::Syntax => "invalid_json:syntax",
        })
    }
}

/// Trouble with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong.
    pub kind: TroubleKind,
    /// Byte offset into the text.
    pub offset: usize,
    /// What was met there, for a reader.
    pub detail: String,
}
