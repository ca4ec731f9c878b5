//! The profiles: named sets of promises, each a data file with the public document that it was read from.

use std::fmt::Write as _;

use super::{
    Promises, TargetFile,
    promises::{Form, OnFlight, OnMismatch, OnMissing, OnReplay, Scope},
};
use crate::{
    fail::{Code, Fault},
    scenario::Capability,
};

/// Name and data file of each profile, in the order in which they are told.
const FILES: [(&str, &str); 8] = [
    ("job", include_str!("../../profiles/job.toml")),
    ("ietf", include_str!("../../profiles/ietf.toml")),
    ("stripe", include_str!("../../profiles/stripe.toml")),
    ("adyen", include_str!("../../profiles/adyen.toml")),
    ("paypal", include_str!("../../profiles/paypal.toml")),
    ("aws-client-token", include_str!("../../profiles/aws-client-token.toml")),
    ("aip-155", include_str!("../../profiles/aip-155.toml")),
    ("custom", include_str!("../../profiles/custom.toml")),
];

/// The name of the profile whose promises the target file gives itself.
pub(super) const CUSTOM: &str = "custom";

/// The names of all profiles.
#[must_use]
pub fn profiles() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}

/// The promises of a profile, or nothing where there is none of that name.
#[must_use]
pub fn profile(name: &str) -> Option<Promises> {
    let (_, text) = FILES.iter().find(|(known, _)| *known == name)?;
    // The files are built in, and a test reads each.
    toml::from_str(text).ok()
}

/// A profile's page: what it promises, where that is said, and what it widens.
pub fn profile_page(name: &str) -> Result<String, Fault> {
    let promises = profile(name).ok_or_else(|| {
        Fault::new(
            Code::TargetWrongValue,
            format!("there is no profile `{name}`"),
            format!("there are: {}", profiles().join(", ")),
        )
    })?;
    let mut page = format!("# Profile `{name}`: {}\n\n", promises.title);
    // Writing to a String can't fail.
    if !promises.source.is_empty() {
        let _ = writeln!(page, "Source: <{}>\n", promises.source);
    }
    let _ = writeln!(page, "{}\n", promises.notes);
    let _ = writeln!(page, "| about | promised |\n|---|---|");
    for (about, promised) in told(&promises) {
        let _ = writeln!(page, "| {about} | {promised} |");
    }
    let widens = promises.widens();
    if widens.is_empty() {
        let _ = writeln!(page, "\nIt widens nothing.");
    } else {
        let _ = writeln!(page, "\nCompared with `job` it widens:\n");
        for sentence in widens {
            let _ = writeln!(page, "- {sentence}");
        }
    }
    let _ = writeln!(
        page,
        "\nWhatever the profile: at most one effect for each owner and key, one job that can be read, no server error \
         because of a\nduplicate, a job that is over never changes, and after the storm there is at least one job."
    );
    Ok(page)
}

fn told(promises: &Promises) -> [(&'static str, String); 8] {
    let mismatch = match promises.mismatch.answer {
        OnMismatch::Refused => format!("refused with {}", any_of(&promises.mismatch.status)),
        OnMismatch::First => "nothing: it may be answered as if it were the first".to_owned(),
    };
    let missing = match promises.missing.answer {
        OnMissing::Refused => format!("refused with {}", any_of(&promises.missing.status)),
        OnMissing::Allowed => "carried out, unprotected".to_owned(),
    };
    let flight = match promises.in_flight.answer {
        OnFlight::Job => {
            format!("told of the job, or to come back with {}", any_of(&promises.in_flight.status))
        }
        OnFlight::Conflict => format!("told to come back with {}", any_of(&promises.in_flight.status)),
        OnFlight::Wait => "waits for the first one's answer".to_owned(),
    };
    let replay = match promises.replay.answer {
        OnReplay::Live => "told of the job as it is now",
        OnReplay::Snapshot => "the first answer, as it was",
    };
    let marked = if promises.replay.marked { "marked as a replay" } else { "not marked" };
    let form = match promises.key.form {
        Form::VisibleAscii => "visible ASCII",
        Form::Uuid => "a UUID",
    };
    let scope = match promises.key.scope {
        Scope::Owner => "each owner's are his own",
        Scope::Service => "all owners share one space",
    };
    let typed = if promises.refusals.typed { "told to programs" } else { "not told to programs" };
    [
        ("a known key with another payload", mismatch),
        ("no key", missing),
        ("a duplicate in flight", flight),
        ("a duplicate afterwards", format!("{replay}; {}; {marked}", any_of(&promises.replay.status))),
        ("keys", format!("{form}, at most {} characters", promises.key.longest)),
        ("scope of keys", scope.to_owned()),
        ("why a request was refused", typed.to_owned()),
        ("keys are known", promises.retention.least.clone()),
    ]
}

fn any_of(statuses: &[u16]) -> String {
    statuses.iter().map(u16::to_string).collect::<Vec<_>>().join(" or ")
}

impl Promises {
    /// Each promise in which it asks for less than the profile `job`, or for something else, as a sentence.
    #[must_use]
    pub fn widens(&self) -> Vec<String> {
        let strict = Self::default();
        let mut all = Vec::new();
        match self.mismatch.answer {
            OnMismatch::First => all.push(
                "A known key with another payload may be answered as if it were the first order; it still has no effect of its own."
                    .to_owned(),
            ),
            OnMismatch::Refused if self.mismatch != strict.mismatch => {
                all.push(format!("A known key with another payload is refused with {}.", any_of(&self.mismatch.status)));
            }
            OnMismatch::Refused => {}
        }
        match self.missing.answer {
            OnMissing::Allowed => all.push("A request without a key is carried out, unprotected.".to_owned()),
            OnMissing::Refused if self.missing != strict.missing => {
                all.push(format!("A missing key is refused with {}.", any_of(&self.missing.status)));
            }
            OnMissing::Refused => {}
        }
        match self.in_flight.answer {
            OnFlight::Conflict => all.push(format!(
                "A duplicate during flight may be told to come back ({}) instead of being told the job.",
                any_of(&self.in_flight.status)
            )),
            OnFlight::Wait => {
                all.push("A duplicate during flight may wait for the first one's answer.".to_owned());
            }
            OnFlight::Job => {}
        }
        if self.replay.answer == OnReplay::Snapshot {
            all.push("A duplicate is told the first answer as it was, not the job as it is now.".to_owned());
        }
        if self.replay.status != strict.replay.status {
            all.push(format!(
                "A replayed success may have any of the statuses {}.",
                any_of(&self.replay.status)
            ));
        }
        if !self.replay.marked {
            all.push("Replays need not be marked as such.".to_owned());
        }
        if self.key.scope == Scope::Service {
            all.push("All owners share one space of keys, so they have to be unguessable.".to_owned());
        }
        if self.key.form == Form::Uuid {
            all.push("Keys are UUIDs; nothing is promised of other ones.".to_owned());
        } else if self.key.longest < strict.key.longest {
            all.push(format!("Keys have at most {} characters.", self.key.longest));
        }
        if !self.refusals.typed {
            all.push("A refusal need not tell a program which problem it is.".to_owned());
        }
        all
    }
}

impl TargetFile {
    /// What the target promises: its profile's promises, or its own.
    #[must_use]
    pub fn promises(&self) -> Promises {
        match &self.promises {
            Some(own) if self.target.profile == CUSTOM => own.clone(),
            _ => profile(&self.target.profile).unwrap_or_default(),
        }
    }

    /// Each promise that the profile widens, and what can't be seen of the target, as sentences. Empty where there is none.
    #[must_use]
    pub fn widens(&self) -> Vec<String> {
        let mut all = self.promises().widens();
        if !self.capabilities().contains(&Capability::Provider) && !self.counts_effects() {
            all.push(
                "Effects are not counted, since no provider double stands behind the target.".to_owned(),
            );
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_can_be_read_and_names_its_source() {
        for (name, text) in FILES {
            let promises: Promises = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(name == CUSTOM || promises.source.starts_with("https://"), "{name}");
            assert!(!promises.title.is_empty() && !promises.notes.is_empty(), "{name}");
        }
    }

    #[test]
    fn what_is_left_out_is_as_in_the_profile_job() {
        let job = profile("job").expect("a profile");
        let own: Promises = toml::from_str("source = \"https://example.org\"").expect("promises");
        assert_eq!(own.mismatch, job.mismatch);
        assert_eq!(own.missing, job.missing);
        assert_eq!(own.in_flight, job.in_flight);
        assert_eq!(own.replay, job.replay);
        assert_eq!(own.key, job.key);
        assert_eq!(own.refusals, job.refusals);
        assert!(job.widens().is_empty(), "{:?}", job.widens());
    }

    #[test]
    fn every_other_profile_tells_what_it_widens() {
        for name in profiles().into_iter().filter(|name| !["job", CUSTOM].contains(name)) {
            assert!(!profile(name).expect("a profile").widens().is_empty(), "{name}");
        }
    }
}
