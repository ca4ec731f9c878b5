//! An error that a user can cause.

use std::{error::Error, fmt, ops::Range};

use anstream::adapter::strip_str;
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use onejob_reports::{exit::ExitCode, model::CellError};

use super::{Code, Place};
use crate::target::Hidden;

/// What is wrong, where, and what to do about it.
///
/// Cheap to move: the parts live behind one pointer. Equality is not defined; compare codes.
#[derive(Debug)]
pub struct Fault(Box<Parts>);

#[derive(Debug)]
struct Parts {
    code: Code,
    message: String,
    help: String,
    label: Option<String>,
    place: Option<Place>,
    /// What is shown of the file where it can't be shown as it is.
    excerpt: Option<(NamedSource<String>, Range<usize>)>,
    cause: Option<Box<dyn Error + Send + Sync>>,
    others: Vec<Fault>,
}

impl Fault {
    /// A fault without a place. `message` says what is wrong in one sentence without a full stop; `help` what to do.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            code,
            message: plain(message.into()),
            help: help.into(),
            label: None,
            place: None,
            excerpt: None,
            cause: None,
            others: Vec::new(),
        }))
    }

    /// The same fault, in this place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.0.excerpt = place.excerpt();
        self.0.place = Some(place);
        self
    }

    /// The same fault, with a few words under the place in the excerpt.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.0.label = Some(label.into());
        self
    }

    /// The same fault, caused by another error.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.cause = Some(cause.into());
        self
    }

    /// The same fault with more words after its message.
    #[must_use]
    pub fn adding(mut self, words: &str) -> Self {
        self.0.message.push_str(words);
        self
    }

    /// The same fault with secrets taken out of what it says. The excerpt is the file as it was written.
    #[must_use]
    pub fn hiding(mut self, hidden: &Hidden) -> Self {
        for text in [&mut self.0.message, &mut self.0.help].into_iter().chain(&mut self.0.label) {
            *text = hidden.redact(text);
        }
        self
    }

    /// One fault out of several that were found together: the first, which carries the others. Nothing if there is none.
    #[must_use]
    pub fn together(faults: Vec<Self>) -> Option<Self> {
        let mut faults = faults.into_iter();
        let mut first = faults.next()?;
        first.0.others.extend(faults);
        Some(first)
    }

    /// The code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The exit code that it asks for.
    #[must_use]
    pub fn exit(&self) -> ExitCode {
        self.0.code.exit()
    }

    /// What is wrong, in one sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do.
    #[must_use]
    pub fn advice(&self) -> &str {
        &self.0.help
    }

    /// Where, if it is in a file.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }

    /// Further faults that were found together with this one.
    #[must_use]
    pub fn others(&self) -> &[Self] {
        &self.0.others
    }
}

/// Messages quote what programs printed, and programs colour what they print: a terminal must not obey that, nor a report
/// show it.
fn plain(message: String) -> String {
    if message.contains('\u{1b}') { strip_str(&message).to_string() } else { message }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.message)
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.cause.as_deref().map(|cause| cause as _)
    }
}

impl Diagnostic for Fault {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.0.code))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.0.help.is_empty()).then(|| Box::new(&self.0.help) as _)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        let place = self.0.place.as_ref()?;
        let file = place.text().source();
        let shown: &dyn SourceCode = self.0.excerpt.as_ref().map_or(file, |(shown, _)| shown);
        Some(shown)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.0.place.as_ref()?;
        let span = self.0.excerpt.as_ref().map_or_else(|| place.span(), |(_, span)| span.clone());
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(self.0.label.clone(), span))))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        if self.0.others.is_empty() {
            return None;
        }
        Some(Box::new(self.0.others.iter().map(|other| other as _)))
    }
}

impl From<&Fault> for CellError {
    fn from(fault: &Fault) -> Self {
        let mut message = match fault.place() {
            Some(place) => format!("{place}: {}", fault.message()),
            None => fault.message().to_owned(),
        };
        let mut cause = fault.source();
        while let Some(error) = cause {
            message.push_str(": ");
            message.push_str(&error.to_string());
            cause = error.source();
        }
        Self { code: fault.code().to_string(), message, help: fault.advice().to_owned(), exit: fault.exit() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_found_together_keep_their_order() {
        let fault = |words: &str| Fault::new(Code::Bug, words, "");
        let all = Fault::together(vec![fault("a"), fault("b"), fault("c")]).expect("three are given");
        assert_eq!(all.message(), "a");
        assert_eq!(all.others().iter().map(Fault::message).collect::<Vec<_>>(), ["b", "c"]);
        assert!(Fault::together(Vec::new()).is_none());
    }

    #[test]
    fn what_a_program_coloured_is_told_plainly() {
        let said = "it ended\nits output:\n    \u{1b}[2m12:00\u{1b}[0m \u{1b}[31mERROR\u{1b}[0m no database";
        let fault = Fault::new(Code::TargetExited, said, "");
        assert_eq!(fault.message(), "it ended\nits output:\n    12:00 ERROR no database");
        assert!(!CellError::from(&fault).message.contains('\u{1b}'));
    }

    #[test]
    fn a_cell_error_tells_the_whole_chain_of_causes() {
        let fault =
            Fault::new(Code::PortInUse, "the double can't listen on 127.0.0.1:80", "take another port")
                .because(std::io::Error::other("denied"));
        let error = CellError::from(&fault);
        assert_eq!(error.message, "the double can't listen on 127.0.0.1:80: denied");
        assert_eq!((error.code.as_str(), error.exit), ("OJ5001", ExitCode::Infrastructure));
    }
}
