//! What is known about a service, and why it is believed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::words;

/// Something that is known. What nobody said has a reason instead.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fact<T> {
    pub(super) value: T,
    /// Why it was guessed; nothing where somebody said it.
    pub(super) why: Option<String>,
}

impl<T> Fact<T> {
    pub(super) fn said(value: T) -> Self {
        Self { value, why: None }
    }

    pub(super) fn guessed(value: T, why: impl Into<String>) -> Self {
        Self { value, why: Some(why.into()) }
    }
}

/// Where a request carries its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    /// In this header.
    Header(String),
    /// In the body, where the template has `{key}`.
    Body,
}

/// All that a target file can be made from.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Facts {
    pub(super) name: Option<Fact<String>>,
    pub(super) profile: Option<Fact<String>>,
    pub(super) base: Option<Fact<String>>,
    /// Program and arguments; empty where the service runs already.
    pub(super) start: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    /// Knobs that scenarios may turn, and what they are otherwise.
    pub(super) settings: BTreeMap<String, String>,
    pub(super) ready: Option<Fact<String>>,
    pub(super) submit: Option<Fact<String>>,
    pub(super) key: Option<Fact<Key>>,
    pub(super) body: Option<Fact<Value>>,
    pub(super) job: Option<Fact<String>>,
    pub(super) state: Option<Fact<String>>,
    pub(super) result: Option<Fact<String>>,
    pub(super) read: Option<Fact<String>>,
    pub(super) cancel: Option<Fact<String>>,
    /// The service's words by their meaning.
    pub(super) words: Option<Fact<BTreeMap<String, Vec<String>>>>,
    /// Header and template that authenticate; `{token}` in it is the owner's token.
    pub(super) auth: Option<Fact<(String, String)>>,
    /// Names of owners, and the variables that hold their tokens.
    pub(super) owners: Vec<(String, String)>,
    /// The variable through which the service is told where its provider is.
    pub(super) provider_env: Option<String>,
    /// Where a call to the provider says which job it is for.
    pub(super) identity: Option<String>,
    /// Other requests that could be the one that makes a job.
    pub(super) others: Vec<String>,
}

impl Facts {
    /// What was said, and the rest from what was read.
    pub(super) fn or(self, read: Self) -> Self {
        Self {
            name: self.name.or(read.name),
            profile: self.profile.or(read.profile),
            base: self.base.or(read.base),
            start: if self.start.is_empty() { read.start } else { self.start },
            env: if self.env.is_empty() { read.env } else { self.env },
            settings: self.settings,
            ready: self.ready.or(read.ready),
            submit: self.submit.or(read.submit),
            key: self.key.or(read.key),
            body: self.body.or(read.body),
            job: self.job.or(read.job),
            state: self.state.or(read.state),
            result: self.result.or(read.result),
            read: self.read.or(read.read),
            cancel: self.cancel.or(read.cancel),
            words: self.words.or(read.words),
            auth: self.auth.or(read.auth),
            owners: if self.owners.is_empty() { read.owners } else { self.owners },
            provider_env: self.provider_env.or(read.provider_env),
            identity: self.identity.or(read.identity),
            others: read.others,
        }
    }

    /// Whether the service's provider can be told where the double is.
    pub(super) fn has_provider(&self) -> bool {
        let tells = |text: &String| text.contains("{provider.primary.url}");
        self.provider_env.is_some() || self.start.iter().chain(self.env.values()).any(tells)
    }

    /// Fills what is still open with what most services do, so that there is something to correct.
    pub(super) fn settle(&mut self, folder: &str) {
        self.name.get_or_insert_with(|| Fact::guessed(folder.to_owned(), "the name of this folder"));
        self.profile.get_or_insert_with(|| {
            Fact::guessed("job".to_owned(), "nobody said otherwise; it asks for the most")
        });
        if self.base.is_none() && !self.start.is_empty() {
            let why = "the service is started here, with a free port";
            self.base = Some(Fact::guessed("http://127.0.0.1:{port}".to_owned(), why));
        }
        let keyed = self.body.as_ref().is_some_and(|body| body.value.to_string().contains("{key}"));
        self.key.get_or_insert_with(|| {
            if keyed {
                Fact::said(Key::Body)
            } else {
                let header = Key::Header("idempotency-key".to_owned());
                Fact::guessed(header, "the header of the IETF's draft; nothing named another")
            }
        });
        self.body
            .get_or_insert_with(|| Fact::guessed(json!({ "input": "{payload}" }), "nothing showed a body"));
        self.job.get_or_insert_with(|| Fact::guessed("/id".to_owned(), "most APIs call it so"));
        if self.state.is_some() {
            self.words.get_or_insert_with(|| {
                Fact::guessed(words::usual(), "the usual words; take out what your service doesn't say")
            });
        }
        if self.owners.is_empty() && self.auth.is_some() {
            self.owners = ["alice", "bob"].map(|name| (name.to_owned(), variable_of(name))).into();
        }
    }
}

/// The variable that holds an owner's token unless another is named.
pub(super) fn variable_of(owner: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("ONEJOB_{}_TOKEN", owner.chars().map(plain).collect::<String>())
}
