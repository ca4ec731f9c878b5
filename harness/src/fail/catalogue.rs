//! Every code in one table. Numbers are public: one is never given to something else.
//!
//! `OJ1xxx` scenario files, `OJ2xxx` target files and what the target's answers are read by, `OJ3xxx` Postgres, `OJ4xxx`
//! the target's process and its baseline, `OJ5xxx` double, gates and faults, `OJ6xxx` usage, `OJ7xxx` contracts,
//! `OJ8xxx` benchmarks, `OJ9xxx` bugs of onejob.

use std::{fmt, str::FromStr};

use onejob_reports::exit::ExitCode;

macro_rules! catalogue {
    ($($name:ident $number:ident $exit:ident $title:literal;)*) => {
        /// What kind of fault it is. Shown as `OJ1002`; its page is [`Code::page`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = concat!("`", stringify!($number), "`: ", $title, ".")] $name,)*
        }

        impl Code {
            /// All codes, by number.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The code as users see it: `OJ1002`.
            #[must_use]
            pub const fn number(self) -> &'static str {
                match self { $(Self::$name => stringify!($number),)* }
            }

            /// What it means in one line.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }

            /// How the process ends.
            #[must_use]
            pub const fn exit(self) -> ExitCode {
                match self { $(Self::$name => ExitCode::$exit,)* }
            }

            /// Its page, in Markdown: what it means, an example, what to do.
            #[must_use]
            pub const fn page(self) -> &'static str {
                match self { $(Self::$name => include_str!(concat!("pages/", stringify!($number), ".md")),)* }
            }
        }
    };
}

catalogue! {
    ScenarioNotToml OJ1001 Usage "the scenario file is not TOML";
    ScenarioUnknownKey OJ1002 Usage "the scenario file has a key that means nothing";
    ScenarioWrongValue OJ1003 Usage "a value in the scenario file is not of the kind it must be";
    ScenarioMissingKey OJ1004 Usage "something that every scenario must say is missing";
    ScenarioUnreadable OJ1005 Usage "the scenario file can't be read";
    ScenarioMatrix OJ1006 Usage "the matrix of the scenario makes no sense";
    ScenarioPlaceholder OJ1007 Usage "a placeholder names no dimension";
    ScenarioName OJ1008 Usage "a name in the scenario is malformed or taken";
    ScenarioField OJ1009 Usage "a step or a rule lacks a field or has one that it can't use";
    ScenarioReference OJ1010 Usage "the scenario refers to something that isn't there";
    ScenarioContradiction OJ1011 Usage "the scenario demands what can't be";
    ScenarioProvesNothing OJ1012 Usage "the scenario could not fail, or its verdict would mean nothing";
    ScenarioTwice OJ1013 Usage "two scenario files have the same id";
    ScenarioSetting OJ1014 Usage "the scenario sets a knob that the target doesn't have";
    ScenarioNowhere OJ1015 Usage "there is no scenario file there";

    TargetNotToml OJ2001 Usage "the target file is not TOML";
    TargetUnknownKey OJ2002 Usage "the target file has a key that means nothing";
    TargetWrongValue OJ2003 Usage "a value in the target file is not of the kind it must be";
    TargetMissingKey OJ2004 Usage "something that every target file must say is missing";
    TargetUnreadable OJ2005 Usage "the target file can't be read";
    TargetVariable OJ2006 Usage "an environment variable that the target file needs is not set";
    TargetRequest OJ2007 Usage "a request or header in the target file is malformed";
    TargetReads OJ2008 Usage "the target file reads an answer in a way that can't work";
    TargetPlaceholder OJ2009 Usage "a placeholder in the target file names nothing";
    TargetStates OJ2010 Usage "the target's words for states contradict each other";
    TargetIncomplete OJ2011 Usage "the target file doesn't say how to reach the service";
    TargetOwner OJ2012 Usage "the owners of the target file contradict each other";
    TargetAddress OJ2013 Usage "the expression that finds the service's address can't work";
    TargetCapability OJ2014 Usage "what the target is said to have and to lack contradict each other";
    TargetProvider OJ2015 Usage "the provider section of the target file can't work";

    AnswerHtml OJ2020 Target "the target answered with a web page";
    AnswerNotJson OJ2021 Target "the target's answer is not JSON";
    AnswerPointer OJ2022 Target "a pointer of the target file finds nothing in the answer";
    AnswerState OJ2023 Target "the target says a state that its file doesn't know";

    PostgresNowhere OJ3001 Infrastructure "no Postgres could be found or started";
    PostgresUrl OJ3002 Usage "the database URL is malformed";
    PostgresRefused OJ3003 Infrastructure "the Postgres server can't be reached";
    PostgresDenied OJ3004 Infrastructure "the Postgres server doesn't let us in";
    PostgresMayNotCreate OJ3005 Infrastructure "the role may not create databases";
    DockerAbsent OJ3006 Infrastructure "no Docker engine answers";
    DockerImage OJ3007 Infrastructure "the Postgres image is not there and can't be pulled";
    DockerContainer OJ3008 Infrastructure "the Postgres container didn't come up";
    LocalAbsent OJ3009 Infrastructure "no Postgres programs were found on this machine";
    LocalUser OJ3010 Infrastructure "Postgres won't run as root and no other user was found";
    LocalInit OJ3011 Infrastructure "a private Postgres cluster could not be made";
    LocalStart OJ3012 Infrastructure "a private Postgres server didn't come up";
    Migration OJ3013 Target "the target's migrations failed on an empty database";
    DatabaseLost OJ3014 Infrastructure "the database failed in the middle of a run";

    TargetNeverReady OJ4001 Target "the target didn't get ready in time";
    TargetExited OJ4002 Target "the target ended before it was ready";
    TargetNoAddress OJ4003 Target "the target never printed its address";
    TargetRefused OJ4004 Target "the target refuses connections";
    TargetProgram OJ4005 Target "the target's program can't be started";
    Baseline OJ4006 Baseline "one plain submit doesn't work, so no race was tried";
    TargetDied OJ4007 Target "the target ended in the middle of a scenario";
    TargetTls OJ4008 Target "TLS can't be spoken with the target";

    PortInUse OJ5001 Infrastructure "an address is already in use";
    DoubleFailed OJ5002 Infrastructure "the provider double failed";
    LockGate OJ5003 Infrastructure "the lock gate could not be closed";
    ArrivalGate OJ5004 Infrastructure "the arrival gate could not be used";
    FaultFailed OJ5005 Infrastructure "a fault could not be applied";
    Leash OJ5006 Infrastructure "the watchdog that cleans up after us could not be started";
    Middlebox OJ5007 Infrastructure "a program that stands between the parts is missing or didn't come up";

    UnknownScenario OJ6001 Usage "no scenario matches";
    UnknownDefect OJ6002 Usage "there is no such defect";
    DefectElsewhere OJ6003 Usage "defects can only be switched on in a target that takes them";
    UnknownFormat OJ6004 Usage "there is no such report format";
    NoSuchCode OJ6005 Usage "there is no such error code";
    OutputUnwritable OJ6006 Infrastructure "a report can't be written";
    ReportUnreadable OJ6007 Usage "a stored report can't be read";
    BadShard OJ6008 Usage "the shard is not of the form i/n";
    BadFlag OJ6009 Usage "the value of a flag is malformed";
    ReportPath OJ6010 Usage "nothing can be written to the place that was named for it";
    HistoryUnreadable OJ6011 Usage "a stored history can't be read";
    OpenApi OJ6012 Usage "the OpenAPI document can't be used";
    InitIncomplete OJ6013 Usage "nothing says what a target file can't do without";
    InitExists OJ6014 Usage "a file that was to be written is there already";

    ContractFile OJ7001 Usage "a file of the contract can't be used";
    ContractText OJ7002 Usage "a contract, providers or dialect file says something that means nothing";
    ContractPrompt OJ7003 Usage "the prompt can't be rendered for a case";
    ContractTokenizerName OJ7004 Usage "there is no such tokenizer";
    ContractTokenizer OJ7005 Usage "the tokenizer can't be used";
    ContractNoTokenizers OJ7006 Usage "this build can't count tokens";
    CassetteDamaged OJ7010 Usage "a cassette is damaged";
    CassetteMissing OJ7011 Usage "a cassette has no recording of a call";
    CassetteChanged OJ7012 Usage "a request is not the recorded one";
    CassetteExists OJ7013 Usage "a cassette exists already";
    CassetteUnwritable OJ7014 Usage "a cassette can't be written";
    CassetteInUse OJ7015 Usage "another run is recording into the cassette";
    ContractClient OJ7020 Infrastructure "the HTTP client can't be made";
    ContractKeyUnset OJ7021 Usage "a provider's key is not set";
    ContractNoBedrock OJ7022 Usage "this build can't sign requests";
    AttestationKey OJ7030 Usage "there is no Ed25519 key in that place";
    AttestationRandom OJ7031 Infrastructure "the system gives no random numbers";
    AttestationVerdict OJ7032 Usage "this verdict can't be attested";
    AttestationModel OJ7033 Usage "the answers were produced by another model";
    AttestationStale OJ7034 Usage "something changed since the check";
    AttestationName OJ7035 Usage "a provider's name can't be part of a file's name";
    ContractProvider OJ7040 Usage "there is no such provider";
    ContractSame OJ7041 Usage "primary and fallback are the same";
    ContractReport OJ7042 Usage "the result is about something else";
    AttestationNoKey OJ7043 Usage "there is no key to sign with";
    AttestationOverwrite OJ7044 Usage "the key file exists";
    ContractMoment OJ7045 Usage "a moment can't be read";
    DriftNothing OJ7046 Usage "there is nothing to drift from";

    BenchUnsound OJ8001 Unsound "a benchmark broke the promise that it is about";
    BenchNoContention OJ8002 Inconclusive "a benchmark did not produce the contention that it is about";
    BenchBase OJ8003 Usage "the earlier run can't be compared with";

    Bug OJ9001 Bug "onejob itself is broken";
}

/// No such code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no code `{0}`")]
pub struct UnknownCode(String);

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.number())
    }
}

impl FromStr for Code {
    type Err = UnknownCode;

    /// Takes `OJ1002`, `oj1002` and `1002`.
    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let upper = text.trim().to_ascii_uppercase();
        let digits = upper.strip_prefix("OJ").unwrap_or(&upper);
        let found = Self::ALL.iter().find(|code| code.number()[2..] == *digits);
        found.copied().ok_or_else(|| UnknownCode(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path};

    use super::*;

    #[test]
    fn every_page_belongs_to_a_code_and_every_code_has_its_page() {
        let folder = Path::new(file!()).parent().expect("a file has a folder");
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        // `file!()` is relative to the workspace's root, which is the package's folder or the one above it.
        let folder =
            [root.to_owned(), root.join("..")].iter().map(|base| base.join(folder)).find(|it| it.is_dir());
        let pages: BTreeSet<_> = std::fs::read_dir(folder.expect("the source is there").join("pages"))
            .expect("the pages are there")
            .map(|page| page.expect("it can be listed").file_name().into_string().expect("names are ASCII"))
            .collect();
        let codes: BTreeSet<_> = Code::ALL.iter().map(|code| format!("{code}.md")).collect();
        assert_eq!(pages, codes);
    }

    #[test]
    fn a_page_opens_with_its_title_and_has_an_example_and_a_remedy() {
        for code in Code::ALL {
            let page = code.page();
            let heading = format!("# {code}: {}\n", code.title());
            assert!(page.starts_with(&heading), "{code} must start with {heading:?}");
            for part in ["\n## Example\n", "\n## What to do\n"] {
                let (_, body) = page.split_once(part).unwrap_or_else(|| panic!("{code} lacks {part:?}"));
                let body = body.split("\n## ").next().unwrap_or_default();
                assert!(body.trim().len() > 20, "{code}: {part:?} says nothing");
            }
            let exit = format!("ends with exit code {}.", code.exit() as u8);
            assert!(page.contains(&exit), "{code} doesn't say that it {exit}");
            let meaning =
                page.lines().skip(1).take_while(|line| !line.starts_with("## ")).collect::<String>();
            assert!(meaning.len() > 60, "{code} doesn't say what it means");
        }
    }

    #[test]
    fn numbers_are_unique_and_in_order() {
        let numbers: Vec<_> = Code::ALL.iter().map(|code| code.number()).collect();
        let sorted: Vec<_> = numbers.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        assert_eq!(numbers, sorted);
    }

    #[test]
    fn a_code_is_read_in_any_case_and_without_its_letters() {
        for text in ["OJ1002", "oj1002", "1002", " OJ1002 "] {
            assert_eq!(text.parse(), Ok(Code::ScenarioUnknownKey));
        }
        assert!("OJ1".parse::<Code>().is_err());
        assert!("".parse::<Code>().is_err());
    }

    #[test]
    fn nothing_a_user_can_cause_ends_as_a_broken_promise_or_a_success() {
        for code in Code::ALL {
            assert!(!matches!(code.exit(), ExitCode::Success | ExitCode::BrokenPromise), "{code}");
        }
    }
}
