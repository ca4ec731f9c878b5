//! Writes a target file with a comment wherever somebody will want to change something.

use std::fmt::Write as _;

use serde_json::Value;

use super::{
    facts::{Fact, Facts, Key},
    words,
};

/// The target file.
pub(super) fn page(facts: &Facts) -> String {
    let mut page = Page::default();
    page.head(facts);
    page.command(facts);
    page.submit(facts);
    page.others(facts);
    page.states(facts);
    page.owners(facts);
    page.settings(facts);
    page.provider(facts);
    page.0
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, line: impl AsRef<str>) {
        self.0.push_str(line.as_ref());
        self.0.push('\n');
    }

    /// Lines of commentary, wrapped.
    fn note(&mut self, text: impl AsRef<str>) {
        const WIDTH: usize = 110;
        let mut line = String::from("#");
        for word in text.as_ref().split_whitespace() {
            if line.chars().count() + word.chars().count() + 1 > WIDTH {
                self.line(std::mem::replace(&mut line, String::from("#")));
            }
            // Writing to a String can't fail.
            let _ = write!(line, " {word}");
        }
        self.line(line);
    }

    /// Why something was guessed, where it was.
    fn why<T>(&mut self, what: &str, fact: Option<&Fact<T>>) {
        if let Some(why) = fact.and_then(|fact| fact.why.as_ref()) {
            self.note(format!("guessed, {what}: {why}"));
        }
    }

    fn section(&mut self, name: &str) {
        self.line(format!("\n[{name}]"));
    }

    fn head(&mut self, facts: &Facts) {
        self.note(
            "How onejob speaks to this service. `onejob doctor` walks through this file against the running service and \
             says what works; `onejob run` gives the verdict; `onejob schema target` prints the schema for your editor.",
        );
        self.note(
            "A section that is missing is a capability that is missing: the scenarios that need it are skipped and shown \
             as not verified. ${NAME} is a variable of the environment, ${NAME:-default} one that may be unset.",
        );
        self.section("target");
        self.why("the name", facts.name.as_ref());
        self.line(format!("name    = {}", text(facts.name.as_ref().map_or("service", |name| &name.value))));
        self.note(
            "Which promises the service makes about keys; `onejob target --profile all` shows them. With \"custom\" a \
             section [promises] says what differs from \"job\", and where that is documented.",
        );
        self.why("the profile", facts.profile.as_ref());
        self.line(format!(
            "profile = {}",
            text(facts.profile.as_ref().map_or("job", |profile| &profile.value))
        ));
        if facts.profile.as_ref().is_some_and(|profile| profile.value == "custom") {
            self.line("# see [promises] at the end");
        }
        self.note("Where it listens; several addresses are several replicas of it.");
        self.why("the address", facts.base.as_ref());
        if let Some(base) = &facts.base {
            self.line(format!("base    = [{}]", text(&base.value)));
        }
        self.note("When it counts as ready. Without this line: when it takes connections.");
        self.why("the path", facts.ready.as_ref());
        match &facts.ready {
            Some(ready) => {
                self.line(format!("ready   = {{ get = {}, within = \"30s\" }}", text(&ready.value)));
            }
            None => self.line("# ready = { get = \"/healthz\", within = \"30s\" }"),
        }
        self.note("A certificate authority of your own, for a base that begins with https://");
        self.line("# ca    = \"ca.pem\"");
        self.note("Headers of every request, and variables whose values must never be seen in an output.");
        self.line("# headers = { accept = \"application/json\" }");
        let secrets: Vec<_> = facts.owners.iter().map(|(_, variable)| text(variable)).collect();
        match secrets.as_slice() {
            [] => self.line("# secrets = [\"API_TOKEN\"]"),
            some => self.line(format!("secrets = [{}]", some.join(", "))),
        }
    }

    fn command(&mut self, facts: &Facts) {
        self.line("");
        self.note(
            "How to start the service, so that each scenario gets one of its own and may stop, kill and replicate it. No \
             shell. {port} is a free port, {database.url} a fresh database that `migrate` has prepared, \
             {provider.primary.url} where onejob stands in for the provider.",
        );
        if facts.start.is_empty() {
            self.line("# [target.command]");
            self.line("# start    = [\"./service\", \"--port\", \"{port}\"]");
            self.line("# env      = { DATABASE_URL = \"{database.url}\" }");
            self.line("# migrate  = [\"./service\", \"migrate\"]");
            self.line("# replicas = true");
        } else {
            self.line("[target.command]");
            let words: Vec<_> = facts.start.iter().map(|word| text(word)).collect();
            self.line(format!("start    = [{}]", words.join(", ")));
            let mut env: Vec<_> =
                facts.env.iter().map(|(name, value)| format!("{} = {}", key(name), text(value))).collect();
            if let Some(name) = &facts.provider_env {
                env.push(format!("{} = \"{{provider.primary.url}}\"", key(name)));
            }
            match env.as_slice() {
                [] => self.line("# env    = { DATABASE_URL = \"{database.url}\" }"),
                some => self.line(format!("env      = {{ {} }}", some.join(", "))),
            }
            self.line("# folder = \".\"");
            self.note(
                "An expression on a line of its output whose first group is the address, instead of `base`:",
            );
            self.line("# address  = 'listening on (http://\\S+)'");
            self.line("# migrate  = [\"./service\", \"migrate\"]");
            self.note("Whether several may run over one database:");
            self.line("# replicas = true");
        }
        self.line("");
        self.note(
            "With the database at hand the harness makes races certain: it locks this table, waits until all contenders \
             wait there, and lets them go. Without it they are made likely, by HTTP alone.",
        );
        self.line("# [target.database]");
        self.line("# url        = \"${DATABASE_URL}\"");
        self.line("# jobs_table = \"jobs\"");
        self.line("# count_jobs = \"SELECT count(*) FROM jobs WHERE owner = $1 AND idempotency_key = $2\"");
    }

    fn submit(&mut self, facts: &Facts) {
        self.line("");
        self.note("---- Requests -------------------------------------------------------------------------------------");
        self.note(
            "{key} is the idempotency key, {payload} an object that is different for every payload, {payload.text} a text \
             that is. `reads` says where fields of the answer are: a JSON Pointer, `header:NAME`, or `status`.",
        );
        self.section("target.submit");
        self.why("the request", facts.submit.as_ref());
        if !facts.others.is_empty() {
            self.note(format!("could also be: {}", facts.others.join(", ")));
        }
        self.line(format!(
            "request = {}",
            text(facts.submit.as_ref().map_or("POST /jobs", |one| &one.value))
        ));
        self.why("where the key is", facts.key.as_ref());
        match facts.key.as_ref().map(|key| &key.value) {
            Some(Key::Header(name)) => self.line(format!("headers = {{ {} = \"{{key}}\" }}", key(name))),
            _ => self.line("# headers = { idempotency-key = \"{key}\" }"),
        }
        self.why("the body", facts.body.as_ref());
        if let Some(body) = &facts.body {
            self.line(format!("json    = {}", inline(&body.value)));
        }
        self.line("");
        self.section_of_reads("target.submit.reads", facts, true);
    }

    fn section_of_reads(&mut self, name: &str, facts: &Facts, explained: bool) {
        self.line(format!("[{name}]"));
        let places = [("job", &facts.job), ("state", &facts.state), ("result", &facts.result)];
        for (field, place) in places {
            match place {
                Some(place) => {
                    if explained {
                        self.why(&format!("`{field}`"), Some(place));
                    }
                    self.line(format!("{field:<8} = {}", text(&place.value)));
                }
                None if explained => self.line(format!("# {field:<6} = \"/{field}\"")),
                None => {}
            }
        }
        if explained {
            self.line("# problem  = \"/type\"");
            self.line("# replayed = \"header:idempotent-replayed\"");
        }
    }

    fn others(&mut self, facts: &Facts) {
        self.line("");
        if let Some(read) = &facts.read {
            self.line("[target.read]");
            self.why("the request", Some(read));
            self.line(format!("request = {}", text(&read.value)));
            self.line("");
            self.section_of_reads("target.read.reads", facts, false);
        } else {
            self.note("Reads a job. Most scenarios need it.");
            self.line("# [target.read]");
            self.line("# request = \"GET /jobs/{job}\"");
            self.line("# reads   = { job = \"/id\", state = \"/state\", result = \"/result\" }");
        }
        self.line("");
        if let Some(cancel) = &facts.cancel {
            self.line("[target.cancel]");
            self.why("the request", Some(cancel));
            self.line(format!("request = {}", text(&cancel.value)));
        } else {
            self.line("# [target.cancel]");
            self.line("# request = \"POST /jobs/{job}/cancel\"");
        }
        self.note(
            "There is more that a service may have: [target.retry], [target.resolve], [target.cancel-attempt], \
             [target.lookup], [target.batch], [target.schedule], [target.race], [target.callback], [target.audit], \
             [target.reports]. `onejob target --print reference` shows each.",
        );
    }

    fn states(&mut self, facts: &Facts) {
        self.line("");
        self.note("---- Words: left the harness's, right the service's own --------------------------------------------");
        self.why("the words", facts.words.as_ref());
        self.line("[target.states]");
        let empty = std::collections::BTreeMap::new();
        let all = facts.words.as_ref().map_or(&empty, |words| &words.value);
        for meaning in words::meanings() {
            match all.get(meaning) {
                Some(words) if !words.is_empty() => {
                    let words: Vec<_> = words.iter().map(|word| text(word)).collect();
                    self.line(format!("{meaning:<9} = [{}]", words.join(", ")));
                }
                _ => self.line(format!("# {meaning:<9} = []")),
            }
        }
    }

    fn owners(&mut self, facts: &Facts) {
        self.line("");
        self.note("---- Who asks: the first is the default, a second one is needed to show that owners never meet ------");
        self.why("how they authenticate", facts.auth.as_ref());
        if facts.owners.is_empty() {
            self.line("# [[owner]]");
            self.line("# name    = \"alice\"");
            self.line("# token   = \"${ALICE_TOKEN}\"");
            self.line("# headers = { authorization = \"Bearer {token}\" }");
        }
        for (name, variable) in &facts.owners {
            self.line("[[owner]]");
            self.line(format!("name    = {}", text(name)));
            self.line(format!("token   = {}", text(&format!("${{{variable}}}"))));
            if let Some(Fact { value: (header, template), .. }) = &facts.auth {
                self.line(format!("headers = {{ {} = {} }}", key(header), text(template)));
            }
            self.line("");
        }
    }

    fn settings(&mut self, facts: &Facts) {
        self.line("");
        self.note(
            "---- Knobs that scenarios may turn, and what they are otherwise; the command gets them as {settings.NAME} ----",
        );
        self.note(
            "Most scenarios about providers that fall silent want to say how long the service waits for one.",
        );
        if facts.settings.is_empty() {
            self.line("# [settings]");
            self.line("# attempt_timeout = \"30s\"");
        } else {
            self.line("[settings]");
            for (name, value) in &facts.settings {
                self.line(format!("{} = {}", key(name), text(value)));
            }
        }
    }

    fn provider(&mut self, facts: &Facts) {
        self.line("");
        self.note("---- What the service calls to carry a job out: onejob stands in for it, and counts effects ----------");
        self.note(
            "`identity` says where a call tells which job it is for: `header:NAME`, or a JSON Pointer into its body. What \
             scenarios make of calls is found by the payload in them.",
        );
        let prefix = if facts.has_provider() { "" } else { "# " };
        self.line(format!("{prefix}[provider]"));
        self.line(format!("{prefix}names    = [\"primary\"]"));
        match &facts.identity {
            Some(identity) => self.line(format!("{prefix}identity = {}", text(identity))),
            None => self.line("# identity = \"/client_reference\""),
        }
        self.note("A service whose provider can't be stood in for may count its effects itself:");
        self.line("# [target.effects]");
        self.line("# request = \"GET /charges?idempotency_key={key}\"");
        self.line("# count   = \"/charges\"");
        if facts.profile.as_ref().is_some_and(|profile| profile.value == "custom") {
            self.line("\n[promises]");
            self.note("What differs from the profile \"job\", and where that is documented.");
            self.line("source   = \"https://example.com/docs/idempotency\"");
            self.line("# notes     = \"\"");
            self.line("# mismatch  = { answer = \"refused\", status = [409, 422] }");
            self.line("# missing   = { answer = \"allowed\" }");
            self.line("# in-flight = { answer = \"conflict\", status = [409] }");
            self.line("# replay    = { answer = \"snapshot\", status = [200, 201], marked = false }");
            self.line("# refusals  = { typed = false }");
        }
    }
}

/// A text as TOML writes it.
fn text(value: &str) -> String {
    toml::Value::String(value.to_owned()).to_string()
}

/// A key, bare where it may be.
fn key(name: &str) -> String {
    let bare =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if bare { name.to_owned() } else { text(name) }
}

/// JSON as an inline value. TOML has no null: a member that is null is left out.
pub(super) fn inline(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<_> = members
                .iter()
                .filter(|(_, member)| !member.is_null())
                .map(|(name, member)| format!("{} = {}", key(name), inline(member)))
                .collect();
            if members.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", members.join(", ")) }
        }
        Value::Array(elements) => {
            let elements: Vec<_> = elements.iter().filter(|one| !one.is_null()).map(inline).collect();
            format!("[{}]", elements.join(", "))
        }
        Value::String(string) => text(string),
        Value::Null => "\"\"".to_owned(),
        other => other.to_string(),
    }
}
