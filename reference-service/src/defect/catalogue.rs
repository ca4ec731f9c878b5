/// What part of the contract a defect belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// How a key is claimed.
    Claims,
    /// Whose key it is, and what for.
    Scope,
    /// What makes two payloads one.
    CanonicalForm,
    /// How long a key is held.
    Retention,
    /// What an unknown outcome allows.
    Unknown,
    /// Who holds an attempt, and whose result counts.
    Fencing,
    /// Calling a job off.
    Cancel,
    /// What providers report by themselves.
    Callbacks,
    /// What a crash leaves behind.
    CrashSafety,
    /// What sits between the parts.
    Proxies,
    /// What the database does to concurrent transactions.
    Isolation,
    /// When a job moves to another provider on its own.
    Failover,
}

macro_rules! defects {
    ($( $(#[$meta:meta])* $variant:ident, $name:literal, $family:ident, $promise:literal, $story:literal; )+) => {
        /// A mistake that the service makes on purpose.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Defect { $( #[doc = $story] $variant, )+ }

        impl Defect {
            /// All of them, in the order of the catalogue.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];

            /// The name on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( Self::$variant => $name, )+ }
            }

            /// The promise that it breaks.
            #[must_use]
            pub const fn promise(self) -> &'static str {
                match self { $( Self::$variant => $promise, )+ }
            }

            /// The public failure that it stands for, in a sentence.
            #[must_use]
            pub const fn story(self) -> &'static str {
                match self { $( Self::$variant => $story, )+ }
            }

            /// The part of the contract that it belongs to.
            #[must_use]
            pub const fn family(self) -> Family {
                match self { $( Self::$variant => Family::$family, )+ }
            }
        }
    };
}

defects! {
    CheckThenInsert, "check-then-insert", Claims,
        "simultaneous requests with one key make one job",
        "Looks whether a key is there before it inserts, so two clicks in the same instant both find nothing.";
    MismatchIgnored, "mismatch-ignored", Claims,
        "a key with another payload is refused",
        "Answers a known key with the old job whatever the payload says, so a second order silently becomes the first.";
    KeyIgnored, "key-ignored", Claims,
        "the same intent gets the same job",
        "Takes the key for a label that goes into the log, so a client that asks again after a lost answer orders twice.";
    PayloadIsKey, "payload-is-key", Claims,
        "equal requests under different keys are different intents",
        "Recognises requests by their content, so the second of two equal orders is dropped as a duplicate of the first.";
    KeylessAccepted, "keyless-accepted", Claims,
        "a request without a key is refused",
        "Makes up a key where none was sent, so the very request that needs protection has a key that no retry can know.";
    FirstKeyWins, "first-key-wins", Claims,
        "two lines of keys are refused",
        "Takes the first of two keys while the proxy before it takes the last, so the duplicate slips through between them.";
    KeyMended, "key-mended", Claims,
        "a key that can't be told apart from another is refused",
        "Drops the characters of a key that it doesn't like, so every client with an empty variable shares one job.";
    KeyTruncated, "key-truncated", Claims,
        "keys are compared to their last character",
        "Cuts keys to the width of a column, so two long ones that differ at their end become one.";
    QuotedIsAnotherKey, "quoted-is-another-key", Claims,
        "a key in quotes is the bare key",
        "Takes the quotes for a part of the key, so a retry that came through a gateway which adds them starts a second job.";
    TimeoutIsFailed, "timeout-is-failed", Unknown,
        "an attempt without an answer is unknown, never failed",
        "Takes a timeout for a failure and tries again, so a card whose first charge went through is charged twice.";
    UnknownDoesNotBlock, "unknown-does-not-block", Unknown,
        "an unknown outcome blocks every further attempt",
        "Starts the next attempt while nobody knows how the last one ended, so both may have their effect.";
    LastWriterWins, "last-writer-wins", Fencing,
        "a decided job never changes",
        "Writes whatever result arrives, so a straggler overwrites what the client has already been told.";
    StatusOnlyCas, "status-only-cas", Fencing,
        "the result of an attempt that was decided over is discarded",
        "Guards the result by the job's state alone, so an attempt that was given up completes its successor's work.";
    UniqueViolationIs500, "unique-violation-is-500", Claims,
        "a duplicate is never answered by a server error",
        "Lets the database's complaint about a duplicate key through, so the loser of a race gets a 500 and tries again.";
    InvalidBodyClaims, "invalid-body-claims", Claims,
        "a refused request does not consume its key",
        "Claims the key before it reads the body, so the corrected request is told that its key is taken.";
    FailedFreesKey, "failed-frees-key", Claims,
        "the same intent gets the same job, whatever became of it",
        "Forgets the key of a job that failed, so a retry of the request runs the work again.";
    ScheduledIgnoresKey, "scheduled-ignores-key", Claims,
        "every way to create a job honours the key",
        "Checks the key only for jobs that run at once, so a scheduled one is created twice.";
    BatchIgnoresKeys, "batch-ignores-keys", Claims,
        "every way to create a job honours the key",
        "Imports the rows of a batch without looking at their keys, so a repeated upload doubles them.";
    KeyWithoutOwner, "key-without-owner", Scope,
        "keys of different owners never meet",
        "Keeps keys in one space for all customers, so one of them is shown the other's order.";
    LookupIgnoresOwner, "lookup-ignores-owner", Scope,
        "nobody reads another owner's job",
        "Looks a job up by its id alone, so whoever learns an id reads and cancels a stranger's job.";
    AnonymousAccepted, "anonymous-accepted", Scope,
        "a request without credentials is refused",
        "Serves whoever sends no valid token as one and the same guest, so an order whose token has expired belongs to nobody.";
    KeyCaseFolded, "key-case-folded", Scope,
        "keys are compared byte by byte",
        "Folds the case of keys in a collation, so two random keys that differ in case become one.";
    FingerprintBodyOnly, "fingerprint-body-only", Scope,
        "the same key on another route is another intent",
        "Compares bodies but not what they were sent to, so a key of one operation is answered with another's job.";
    BytesFingerprint, "bytes-fingerprint", CanonicalForm,
        "spelling a payload differently does not make it another intent",
        "Hashes the bytes of the body, so an honest retry by a client that orders its members differently is refused.";
    RoundedNumbers, "rounded-numbers", CanonicalForm,
        "different payloads are never one intent",
        "Reads numbers as doubles before it compares, so amounts beyond 2^53 that differ are taken for one.";
    LastMemberWins, "last-member-wins", CanonicalForm,
        "a payload that two readers understand differently is refused",
        "Accepts a member twice and keeps the last, while the provider behind it keeps the first.";
    RetentionIgnoresState, "retention-ignores-state", Retention,
        "a key is held at least until its job is decided",
        "Deletes old rows whatever their state, so the retry of a job that still runs starts it again.";
    NoTombstone, "no-tombstone", Retention,
        "a key whose job was purged is answered 410, and never runs again",
        "Deletes the key with the job, so a request that comes back after a month runs a second time.";
    OverdueIsFailed, "overdue-is-failed", Unknown,
        "a deadline raises attention and decides nothing",
        "Sweeps what has been unknown for too long into failed, so people repeat what had happened.";
    ServerErrorIsFailed, "server-error-is-failed", Unknown,
        "a server error leaves the outcome unknown",
        "Takes a 500 or 502 for a refusal and tries again, though the provider had done the work before it failed.";
    DuplicateIsFailed, "duplicate-is-failed", Unknown,
        "a provider that reports a duplicate has the first one",
        "Takes a provider's complaint about a duplicate for a failure, so a payment that went through is shown as failed.";
    NotFoundTooEarly, "not-found-too-early", Unknown,
        "\"not found\" counts only after the provider's declared latency",
        "Believes a provider that knows nothing yet, and sends the work again while the first request is on its way.";
    LiveDoesNotBlock, "live-does-not-block", Fencing,
        "no attempt starts while another one is out",
        "Starts an attempt for everybody who presses the button, so the work runs as often as there were clicks.";
    GivenUpRunsAgain, "given-up-runs-again", Unknown,
        "after an attempt was given up nothing runs until somebody asks for it",
        "Puts a job back into the queue when its attempt is given up, so the next call leaves before anybody decided on it.";
    PreconditionIgnored, "precondition-ignored", Fencing,
        "a decision counts only for the version that was read",
        "Looks whether `If-Match` is there and not what it says, so two people decide over one attempt without knowing.";
    NoHeartbeat, "no-heartbeat", Fencing,
        "an attempt that is carried out is not taken away",
        "Never renews its lease, so work that takes longer than expected is declared lost while it runs.";
    LapsedMeansRepeat, "lapsed-means-repeat", Fencing,
        "an attempt whose worker vanished after the effect started is unknown",
        "Puts a job back into the queue when its worker falls silent, so what that worker had sent is sent again.";
    WorkerNameFence, "worker-name-fence", Fencing,
        "identity is per acquisition, never per worker",
        "Recognises the holder of a job by its worker's name, so the same worker's older attempt passes for the new one.";
    StartFences, "start-fences", Fencing,
        "the first attempt home wins, whoever started last",
        "Bumps the version when an attempt starts, so the earlier of two racing attempts is turned away.";
    LeaseByWorkerClock, "lease-by-worker-clock", Fencing,
        "no clock of a worker decides who holds an attempt",
        "Writes the end of a lease by the worker's own clock, so a clock that is minutes off gives its work away.";
    CancelOverwrites, "cancel-overwrites", Cancel,
        "a decided job never changes",
        "Cancels what has already succeeded, so the client is told \"cancelled\" about work that was done.";
    CancelIgnoresEffect, "cancel-ignores-effect", Cancel,
        "work whose effect may have started is not reported as cancelled",
        "Reports a job as cancelled while its provider is at work.";
    CancelFreesKey, "cancel-frees-key", Cancel,
        "cancelling never frees the key",
        "Forgets the key of a cancelled job, so a delayed duplicate of the request brings it back to life.";
    UnsignedCallback, "unsigned-callback", Callbacks,
        "only the provider decides what the provider did",
        "Believes any callback, so whoever finds the address completes other people's jobs.";
    ReplayedCallback, "replayed-callback", Callbacks,
        "an old callback is not taken for a new one",
        "Checks the signature but not its age, so a recorded callback can be played back for ever.";
    CallbackEachTime, "callback-each-time", Callbacks,
        "an event makes one transition, however often it is delivered",
        "Takes every delivery of an event for a new one and writes its result again.";
    AnswerBeforeCommit, "answer-before-commit", CrashSafety,
        "no answer is given before its commit",
        "Answers 201 and commits afterwards, so a job that was promised is gone after a crash or not there yet.";
    EnqueueAfterCommit, "enqueue-after-commit", CrashSafety,
        "a job that was acknowledged is carried out",
        "Commits the job and enqueues it in a second step, so a crash between the two strands it for ever.";
    KeyLockLeftBehind, "key-lock-left-behind", CrashSafety,
        "there is never a key without its job",
        "Locks the key in a step of its own before it makes the job, so a crash between the two turns every retry away.";
    DroppedWithTheClient, "dropped-with-the-client", CrashSafety,
        "what was begun for a client that hung up is finished or undone",
        "Works within the handler that the framework drops when the client hangs up, between any two of its steps.";
    TimerInMemory, "timer-in-memory", CrashSafety,
        "a job that was acknowledged is carried out",
        "Keeps the time at which a job is due in a timer of the process, so a restart forgets every job that was scheduled.";
    ShutdownAbandons, "shutdown-abandons", CrashSafety,
        "a process that is asked to end finishes what it has begun",
        "Ends at once when it is asked to, so each deployment leaves unknown outcomes behind.";
    AttemptAfterCommit, "attempt-after-commit", CrashSafety,
        "a job that was taken up is never left without an attempt",
        "Commits that a job is under way and records the attempt afterwards, so a crash between the two leaves it to nobody.";
    EffectBeforeMark, "effect-before-mark", CrashSafety,
        "the effect is noted before it starts",
        "Calls the provider and writes down afterwards that it did, so a crash in between repeats the call.";
    HiddenResend, "hidden-resend", Proxies,
        "one attempt is one request to the provider",
        "Uses an HTTP client that sends again by itself when a connection breaks, so one attempt has two effects.";
    ClaimInMemory, "claim-in-memory", Proxies,
        "it does not matter which replica a request reaches",
        "Keeps the lock on a key in the memory of one process, so a proxy that tries the next replica makes a second job.";
    KeysInMemory, "keys-in-memory", Proxies,
        "it does not matter which replica a request reaches",
        "Remembers the keys it has seen in the memory of one process, so a POST that a balancer sends on to the next replica is new there.";
    BrokenIsRefused, "broken-is-refused", Unknown,
        "a call that broke off may have had its effect",
        "Takes every connection error for a connection that was never made, and calls again though the first call may have arrived.";
    RefusedIsUnknown, "refused-is-unknown", Unknown,
        "a call that was never made is a failure, and safe to repeat",
        "Takes a refused connection for a call without an answer, so an outage of the provider leaves every job to be resolved by hand.";
    ReferencePerAttempt, "reference-per-attempt", Proxies,
        "every layer knows the work by the same name",
        "Gives the provider a new key for each attempt, so it can't recognise the second one as the same work.";
    TracePerAttempt, "trace-per-attempt", Proxies,
        "a call carries the trace of the request that made its job",
        "Begins a new trace for each attempt, so nobody can find out which request a provider's bill is for.";
    AsynchronousCommit, "asynchronous-commit", CrashSafety,
        "a job that was acknowledged survives a crash of the database",
        "Turns synchronous commit off to be faster, so what it acknowledged in the last moments before a crash is gone.";
    NamedStatements, "named-statements", Isolation,
        "behind a pooler in transaction mode every statement is one's own",
        "Prepares its statements by name behind a pooler, where the name means another client's statement, or nothing.";
    ConflictRepeatsEffect, "conflict-repeats-effect", Isolation,
        "running a transaction again never repeats an effect",
        "Wraps the call in the transaction that is tried again, so a serialization failure charges the card once more.";
    ResultGivenUp, "result-given-up", Isolation,
        "what a provider answered is written, however long its row is held",
        "Gives the write of a result as long as a click, so a backup that holds a row for a second leaves a paid order open.";
    FailoverUngated, "failover-ungated", Failover,
        "no job moves to a provider that has not proven that it meets the contract",
        "Sends the job to whoever is next in the chain, so a model that never saw the prompt writes the customer's invoice.";
    FailoverOnUnknown, "failover-on-unknown", Failover,
        "an unknown outcome never fails over",
        "Takes a silent provider for a busy one and asks the next, so an order that went through is placed a second time.";
    AttestationCached, "attestation-cached", Failover,
        "an attestation that has expired allows nothing",
        "Looks at an attestation's date only when it reads the file, so a proof that is long out of date still opens the door.";
    PermitKept, "permit-kept", Failover,
        "a job that moved is sent only while the proof holds",
        "Asks whether a job may move when the first call fails and not when the next one goes out, so a proof that is withdrawn while the job waits still sends it.";
    AttestationByName, "attestation-by-name", Failover,
        "an attestation is for exactly what was attested",
        "Asks only whether the two providers were attested once, so a prompt that was changed since goes out unproven.";
}

impl std::fmt::Display for Defect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Defect {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|defect| defect.name() == name).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|defect| defect.name()).collect();
            format!("there is no defect `{name}`; there are {}", known.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_kebab_case_unique_and_read_back() {
        let mut seen = BTreeSet::new();
        for &defect in Defect::ALL {
            let name = defect.name();
            assert!(seen.insert(name), "{name} twice");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{name}");
            assert_eq!(name.parse(), Ok(defect));
        }
        assert!("nonsense".parse::<Defect>().is_err());
    }

    #[test]
    fn every_family_has_a_defect() {
        let families: BTreeSet<Family> = Defect::ALL.iter().map(|defect| defect.family()).collect();
        assert_eq!(families.len(), 12);
    }

    #[test]
    fn stories_are_one_sentence() {
        for defect in Defect::ALL {
            let story = defect.story();
            assert!(story.ends_with('.') && story.matches(". ").count() == 0, "{defect}: {story}");
            assert!(!defect.promise().ends_with('.'), "{defect}");
        }
    }
}
