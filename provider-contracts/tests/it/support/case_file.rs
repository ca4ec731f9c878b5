//! A fault from the field, as data.

use std::path::Path;
use std::time::Duration;

use onejob_contracts::transport::{Exchange, Received, SendFault, classify};
use serde::Deserialize;

/// One fault: where it was seen, and runs that show it and its healthy counterpart.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaseFile {
    pub(crate) id: String,
    pub(crate) seen_in: String,
    pub(crate) fault: String,
    pub(crate) run: Vec<Run>,
}

/// One run of a check.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// What this run shows.
    pub(crate) shows: String,
    /// The verdict of the whole check. A code without a detail stands for its family.
    pub(crate) expect: String,
    /// The verdict of a failed sample, where it differs.
    pub(crate) sample: Option<String>,
    /// Notes that must be there.
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    /// How many requests are sent in all.
    pub(crate) sends: Option<usize>,
    /// Retries in the report.
    pub(crate) retries: Option<u32>,
    /// The least time between first and last send, in milliseconds.
    pub(crate) waits_ms: Option<u64>,
    /// Merged over the base contract.
    #[serde(default)]
    pub(crate) contract: toml::Table,
    /// Merged over the base provider.
    #[serde(default)]
    pub(crate) provider: toml::Table,
    /// Files beside the contract.
    #[serde(default)]
    pub(crate) files: std::collections::BTreeMap<String, String>,
    /// What the provider answers, in order; the last again and again. Without any, a valid invoice.
    #[serde(default)]
    pub(crate) answer: Vec<Scripted>,
}

/// One scripted answer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Scripted {
    /// This often.
    pub(crate) times: Option<usize>,
    pub(crate) status: Option<u16>,
    pub(crate) headers: std::collections::BTreeMap<String, String>,
    /// The text of the answer, put into the dialect's own envelope.
    pub(crate) content: Option<String>,
    /// The whole body.
    pub(crate) body: Option<String>,
    /// Why the body is cut off.
    pub(crate) cut: Option<String>,
    /// Sent, and nothing came back.
    pub(crate) unknown: Option<String>,
    /// What the HTTP client said about a failed send: `connect`, `timeout`, `request`, `body`.
    pub(crate) send_fault: Option<Vec<String>>,
}

impl CaseFile {
    pub(crate) fn all() -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases");
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }

    pub(crate) fn load(id: &str) -> Self {
        Self::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/cases/{id}.toml")))
    }

    fn read(path: &Path) -> Self {
        let text =
            std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

impl Run {
    /// A run of the base contract with these answers.
    pub(crate) fn answering(answer: Vec<Scripted>) -> Self {
        let text = "shows = \"\"\nexpect = \"PASS\"";
        Self { answer, ..toml::from_str(text).unwrap() }
    }

    /// The script, with contents wrapped by `envelope`.
    pub(crate) fn script(&self, envelope: &dyn Fn(&str) -> String) -> Vec<Exchange> {
        let valid = [Scripted { content: Some(super::INVOICE.to_owned()), ..Scripted::default() }];
        let answers = if self.answer.is_empty() { &valid[..] } else { &self.answer };
        let repeat =
            |answer: &Scripted| std::iter::repeat_n(answer.exchange(envelope), answer.times.unwrap_or(1));
        answers.iter().flat_map(repeat).collect()
    }
}

impl Scripted {
    fn exchange(&self, envelope: &dyn Fn(&str) -> String) -> Exchange {
        if let Some(why) = &self.unknown {
            return Exchange::Unknown(why.clone());
        }
        if let Some(flags) = &self.send_fault {
            let on = |flag: &str| flags.iter().any(|one| one == flag);
            let fault = SendFault {
                connect: on("connect"),
                builder: on("builder"),
                timeout: on("timeout"),
                request: on("request"),
                body: on("body"),
            };
            let why = flags.join(" and ");
            return if classify(fault) { Exchange::NeverSent(why) } else { Exchange::Unknown(why) };
        }
        let body = match (&self.content, &self.body) {
            (Some(content), _) => envelope(content),
            (None, body) => body.clone().unwrap_or_default(),
        };
        Exchange::Answered(Received {
            status: self.status.unwrap_or(200),
            headers: self.headers.clone().into_iter().collect(),
            body: body.into_bytes(),
            cut: self.cut.clone(),
            elapsed: Duration::from_millis(5),
        })
    }
}
