//! Recorded round trips in a file.
//!
//! One pretty-printed JSON document after another: it can be appended to, and a change shows as changed lines. What
//! differs from run to run and decides nothing, such as dates and request ids, is left out.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CallId, Exchange, Received, Secrets};
use crate::file::FileError;
use crate::provider::Outgoing;

/// Recorded calls by their id.
#[derive(Clone, Debug, Default)]
pub struct Cassette(pub BTreeMap<CallId, Interaction>);

/// One recorded call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interaction {
    /// Which call.
    pub call: CallId,
    /// Where it went.
    pub url: String,
    /// What was sent, redacted.
    pub request_headers: BTreeMap<String, String>,
    /// The body that was sent.
    pub request: Value,
    /// What happened: `answered`, `never_sent` or `unknown`.
    pub outcome: String,
    /// The status, if there was an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Headers that decide something.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    /// Why the body is cut off, or why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Milliseconds from sending to the last byte.
    pub elapsed_ms: u64,
}

/// A recorded body, in the form that reads best.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// JSON whose meaning survives a parser.
    Json(Value),
    /// Text, as its lines.
    Lines(Vec<String>),
    /// Anything else.
    Base64(String),
}

/// A cassette can't be used.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The file can't be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is one already.
    #[error(
        "OJ7013: {0} exists, and a recording is never overwritten\nhelp: go on with it by --resume, or record into another file"
    )]
    Exists(String),
    /// Another run records into it.
    #[error(
        "OJ7015: another run is recording into {0}\nhelp: wait for its end, or record into another file: two runs in one would pay for every call twice"
    )]
    InUse(String),
    /// A document in it is none of these.
    #[error(
        "OJ7010: {file}: recording {number} is damaged: {reason}\nhelp: a run that was interrupted can be resumed with --record and --resume; otherwise record again"
    )]
    Damaged {
        /// The file.
        file: String,
        /// Which document, from 1.
        number: usize,
        /// What the parser says.
        reason: String,
    },
}

impl Body {
    /// The best form for `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8], secrets: &Secrets) -> Self {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Self::Base64(STANDARD.encode(secrets.redact_bytes(bytes)));
        };
        let text = secrets.redact(text);
        // The strict pass makes sure that nothing is lost by parsing: no duplicate keys, no rounded numbers.
        if let Ok(read) = crate::strict::scan(&text)
            && (read.value.is_object() || read.value.is_array())
        {
            return Self::Json(read.value);
        }
        Self::Lines(text.split('\n').map(str::to_owned).collect())
    }

    /// The bytes again.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Json(value) => value.to_string().into_bytes(),
            Self::Lines(lines) => lines.join("\n").into_bytes(),
            Self::Base64(text) => STANDARD.decode(text).unwrap_or_default(),
        }
    }
}

/// Headers that decide something.
fn decides(name: &str) -> bool {
    name == "content-type"
        || name.contains("retry")
        || (name.contains("ratelimit") && name.contains("reset"))
        || name == "x-amzn-errortype"
}

impl Interaction {
    /// Makes a recording of a call. A broken transport is not recorded.
    #[must_use]
    pub fn of(call: &CallId, request: &Outgoing, exchange: &Exchange, secrets: &Secrets) -> Option<Self> {
        let mut interaction = Self {
            call: call.clone(),
            url: secrets.redact_url(&request.url),
            request_headers: request
                .headers
                .iter()
                .map(|(name, value)| secrets.redact_header(name, value))
                .collect(),
            request: secrets.redact_document(&request.body),
            outcome: String::new(),
            status: None,
            headers: BTreeMap::new(),
            body: None,
            reason: None,
            elapsed_ms: 0,
        };
        let (outcome, reason) = match exchange {
            Exchange::Answered(received) => {
                interaction.status = Some(received.status);
                interaction.body = Some(Body::of(&received.body, secrets));
                interaction.elapsed_ms = u64::try_from(received.elapsed.as_millis()).unwrap_or(u64::MAX);
                let headers = received.headers.iter().filter(|(name, _)| decides(name));
                interaction.headers =
                    headers.map(|(name, value)| secrets.redact_header(name, value)).collect();
                ("answered", received.cut.clone())
            }
            Exchange::NeverSent(why) => ("never_sent", Some(why.clone())),
            Exchange::Unknown(why) => ("unknown", Some(why.clone())),
            Exchange::Broken(_) => return None,
        };
        outcome.clone_into(&mut interaction.outcome);
        interaction.reason = reason.map(|reason| secrets.redact(&reason));
        Some(interaction)
    }

    /// What the call came to.
    #[must_use]
    pub fn exchange(&self) -> Exchange {
        let reason = self.reason.clone();
        match (self.outcome.as_str(), self.status) {
            ("answered", Some(status)) => Exchange::Answered(Received {
                status,
                headers: self.headers.clone().into_iter().collect(),
                body: self.body.as_ref().map(Body::bytes).unwrap_or_default(),
                cut: reason,
                elapsed: Duration::from_millis(self.elapsed_ms),
            }),
            ("never_sent", _) => Exchange::NeverSent(reason.unwrap_or_default()),
            ("unknown", _) => Exchange::Unknown(reason.unwrap_or_default()),
            (other, _) => Exchange::Broken(format!("the recording says `{other}`, which means nothing")),
        }
    }
}

impl Cassette {
    /// Reads a file. With `resume`, a last document that an interruption cut off is left out.
    ///
    /// # Errors
    /// When the file can't be read or a document is damaged.
    pub fn load(path: &Path, resume: bool) -> Result<(Self, u64), CassetteError> {
        let text = crate::file::read_recording(path)?;
        let mut cassette = Self::default();
        let mut stream = serde_json::Deserializer::from_str(&text).into_iter::<Interaction>();
        let mut whole = 0;
        let mut number = 0;
        while let Some(next) = stream.next() {
            number += 1;
            match next {
                Ok(interaction) => {
                    whole = stream.byte_offset() as u64;
                    cassette.0.insert(interaction.call.clone(), interaction);
                }
                Err(error) if resume && error.is_eof() => break,
                Err(error) => {
                    let file = path.display().to_string();
                    return Err(CassetteError::Damaged { file, number, reason: error.to_string() });
                }
            }
        }
        Ok((cassette, whole))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_body_comes_back_as_it_was() {
        let none = Secrets::default();
        let texts: [&[u8]; 5] =
            [b"{\"a\":1}", b"data: {}\n\ndata: [DONE]\n\n", b"\xff\x00", b"", b"{\"a\":1,\"a\":2}"];
        for bytes in texts {
            assert_eq!(Body::of(bytes, &none).bytes(), bytes);
        }
    }

    #[test]
    fn secrets_never_reach_the_file() {
        let secrets = Secrets::new(["sk-abcdef".to_owned()]);
        let request = Outgoing {
            url: "http://h/?key=sk-abcdef".into(),
            headers: vec![
                ("authorization".into(), "Bearer sk-abcdef".into()),
                ("x-own".into(), "sk-abcdef".into()),
            ],
            body: json!({"user": "sk-abcdef"}),
        };
        let answer = Exchange::Answered(Received {
            status: 401,
            headers: vec![("content-type".into(), "x".into()), ("set-cookie".into(), "s".into())],
            body: b"wrong key sk-abcdef".to_vec(),
            cut: None,
            elapsed: Duration::ZERO,
        });
        let call = CallId { provider: "p".into(), case: "c".into(), sample: "0".into(), attempt: 0 };
        let text = serde_json::to_string(&Interaction::of(&call, &request, &answer, &secrets)).unwrap();
        assert!(!text.contains("sk-abcdef"), "{text}");
        assert!(!text.contains("set-cookie"));
    }
}
