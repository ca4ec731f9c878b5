use std::time::Duration;

use crate::domain::{Answer, Body, Unanswered};

/// What the provider does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Deed {
    /// Does the work and says so.
    Do,
    /// Does nothing and asks to come back.
    Refuse,
    /// Does nothing and never will.
    RefuseForGood,
    /// Does the work and answers with a server error.
    DoAndFail,
    /// Does nothing and answers with a server error.
    Fail,
    /// Takes the work up and reports by callback.
    Accept,
}

impl Deed {
    pub(crate) const ALL: [Self; 6] =
        [Self::Accept, Self::Fail, Self::RefuseForGood, Self::Refuse, Self::DoAndFail, Self::Do];

    /// Whether the effect happens.
    pub(crate) fn has_effect(self) -> bool {
        matches!(self, Self::Do | Self::DoAndFail)
    }

    /// What is answered.
    pub(crate) fn reply(self) -> Reply {
        match self {
            Self::Do => Reply::Done,
            Self::Refuse => Reply::Refused,
            Self::RefuseForGood => Reply::RefusedForGood,
            Self::DoAndFail | Self::Fail => Reply::ServerError,
            Self::Accept => Reply::Accepted,
        }
    }
}

/// What comes back from a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Reply {
    /// The work is done.
    Done,
    /// Nothing was done; come back.
    Refused,
    /// Nothing was done.
    RefusedForGood,
    /// Something went wrong.
    ServerError,
    /// A callback will tell.
    Accepted,
    /// This reference was seen before.
    Duplicate,
    /// The connection broke.
    Broken,
    /// Nothing ever left.
    NeverSent,
}

impl Reply {
    /// The answer as the service reads it.
    pub(crate) fn answer(self) -> Answer {
        let error = || Body::Error { code: "e".to_owned(), message: "m".to_owned() };
        let status = |code, body| Answer::Status { code, retry_after: None, body };
        match self {
            Self::Done => status(200, Body::Result { result: serde_json::json!("r"), reference: None }),
            Self::Refused => {
                Answer::Status { code: 429, retry_after: Some(Duration::from_secs(1)), body: error() }
            }
            Self::RefusedForGood => status(422, error()),
            Self::ServerError => status(500, error()),
            Self::Accepted => status(202, Body::Accepted { reference: None }),
            Self::Duplicate => status(409, error()),
            Self::Broken => Answer::None(Unanswered::Lost("reset".to_owned())),
            Self::NeverSent => Answer::None(Unanswered::NeverSent("refused".to_owned())),
        }
    }
}
