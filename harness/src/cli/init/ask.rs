//! Asks for what nobody said. Only on a terminal.

use dialoguer::{Confirm, Input, Select, theme::Theme};
use serde_json::Value;

use super::facts::{Fact, Facts, Key, variable_of};
use crate::{
    fail::{Code, Fault},
    target::profiles,
};

/// Asks, with what was guessed as the answer that Enter gives.
pub(super) fn ask(facts: &mut Facts, theme: &dyn Theme) -> Result<(), Fault> {
    let asker = Asker { theme };
    asker.place(facts)?;
    asker.requests(facts)?;
    asker.owners(facts)?;
    asker.provider(facts)?;
    if facts.profile.is_none() {
        let names = profiles();
        let question =
            Select::with_theme(theme).with_prompt("Which promises about keys does it make?").items(&names);
        let chosen = question.default(0).interact().map_err(given_up)?;
        facts.profile = Some(Fact::said(names[chosen].to_owned()));
    }
    Ok(())
}

struct Asker<'t> {
    theme: &'t dyn Theme,
}

impl Asker<'_> {
    fn place(&self, facts: &mut Facts) -> Result<(), Fault> {
        if facts.start.is_empty() {
            let question =
                "Command that starts the service, with {port} for its port (empty: it runs already)";
            let line = self.optional(question, None)?;
            if let Some(line) = line {
                facts.start = super::words_of(&line)?;
            }
        }
        if facts.start.is_empty() {
            self.open(&mut facts.base, "Base URL of the running service", Some("http://127.0.0.1:8080"))?;
        }
        self.maybe(&mut facts.ready, "Path that answers 2xx when it is ready (empty: none)")
    }

    fn requests(&self, facts: &mut Facts) -> Result<(), Fault> {
        self.open(&mut facts.submit, "Request that makes a job: method and path", Some("POST /jobs"))?;
        if unsure(facts.body.as_ref()) {
            let shown = facts
                .body
                .as_ref()
                .map_or_else(|| "{\"input\": \"{payload}\"}".to_owned(), |b| b.value.to_string());
            let text = self.text("Its body, as JSON with {payload} in it", Some(&shown))?;
            let value: Value =
                serde_json::from_str(&text).map_err(|error| super::no_json("the body", &error))?;
            facts.body = Some(Fact::said(value));
        }
        let keyed = facts.body.as_ref().is_some_and(|body| body.value.to_string().contains("{key}"));
        if unsure(facts.key.as_ref()) && !keyed {
            let shown = match facts.key.as_ref().map(|key| &key.value) {
                Some(Key::Header(name)) => name.clone(),
                _ => "idempotency-key".to_owned(),
            };
            facts.key =
                Some(Fact::said(Key::Header(self.text("Header that carries the key", Some(&shown))?)));
        }
        self.open(&mut facts.job, "Where in the answer is the job's id?", Some("/id"))?;
        self.maybe(&mut facts.state, "Where in the answer is its state? (empty: nowhere)")?;
        let read = format!("{}/{{job}}", path_of(facts.submit.as_ref()));
        if facts.read.is_none() {
            let question = "Request that reads a job (empty: there is none)";
            facts.read = self.optional(question, Some(&format!("GET {read}")))?.map(Fact::said);
        }
        Ok(())
    }

    fn owners(&self, facts: &mut Facts) -> Result<(), Fault> {
        if !facts.owners.is_empty() || !unsure(facts.auth.as_ref()) {
            return Ok(());
        }
        let shown = facts.auth.as_ref().map(|auth| format!("{}: {}", auth.value.0, auth.value.1));
        let shown = shown.unwrap_or_else(|| "authorization: Bearer {token}".to_owned());
        let wants = Confirm::with_theme(self.theme).with_prompt("Do requests authenticate?").default(true);
        if !wants.interact().map_err(given_up)? {
            facts.auth = None;
            return Ok(());
        }
        let header = self.text("With which header?", Some(&shown))?;
        facts.auth = Some(Fact::said(super::header(&header)?));
        for name in ["alice", "bob"] {
            let question = format!("Variable of the environment that holds {name}'s token");
            facts.owners.push((name.to_owned(), self.text(&question, Some(&variable_of(name)))?));
        }
        Ok(())
    }

    fn provider(&self, facts: &mut Facts) -> Result<(), Fault> {
        if facts.has_provider() || facts.start.is_empty() {
            return Ok(());
        }
        let question = "Variable that tells the service where its provider is (empty: it can't be told)";
        facts.provider_env = self.optional(question, None)?;
        Ok(())
    }

    /// Asks for what is open or was only guessed.
    fn open(
        &self,
        fact: &mut Option<Fact<String>>,
        question: &str,
        usual: Option<&str>,
    ) -> Result<(), Fault> {
        if unsure(fact.as_ref()) {
            let shown = fact.as_ref().map(|fact| fact.value.clone());
            *fact = Some(Fact::said(self.text(question, shown.as_deref().or(usual))?));
        }
        Ok(())
    }

    /// Like `open`, for what may be missing.
    fn maybe(&self, fact: &mut Option<Fact<String>>, question: &str) -> Result<(), Fault> {
        if unsure(fact.as_ref()) {
            let shown = fact.as_ref().map(|fact| fact.value.clone());
            *fact = self.optional(question, shown.as_deref())?.map(Fact::said);
        }
        Ok(())
    }

    fn text(&self, question: &str, shown: Option<&str>) -> Result<String, Fault> {
        let input = Input::<String>::with_theme(self.theme).with_prompt(question);
        let input = match shown {
            Some(shown) => input.default(shown.to_owned()),
            None => input,
        };
        input.interact_text().map_err(given_up)
    }

    fn optional(&self, question: &str, shown: Option<&str>) -> Result<Option<String>, Fault> {
        let input = Input::<String>::with_theme(self.theme).with_prompt(question).allow_empty(true);
        let input = match shown {
            Some(shown) => input.with_initial_text(shown),
            None => input,
        };
        let text = input.interact_text().map_err(given_up)?;
        Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
    }
}

fn unsure<T>(fact: Option<&Fact<T>>) -> bool {
    fact.is_none_or(|fact| fact.why.is_some())
}

fn path_of(submit: Option<&Fact<String>>) -> String {
    let request = submit.map_or("POST /jobs", |submit| &submit.value);
    request.split_once(' ').map_or(request, |(_, path)| path).trim_end_matches('/').to_owned()
}

fn given_up(error: dialoguer::Error) -> Fault {
    Fault::new(
        Code::InitIncomplete,
        "nothing was written: the questions were not answered",
        "answer them, or give flags: `onejob init --help`",
    )
    .because(error)
}
