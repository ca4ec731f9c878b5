use super::{Defect, wrong};
use crate::domain::{parse_rounding, parse_with_duplicates};
use crate::rules::{Mark, Rules};
use crate::store::{self, answer_then_commit, failed_frees_key, insert_then_enqueue};

impl Defect {
    /// Replaces what the defect is about, and nothing else.
    #[expect(clippy::too_many_lines, reason = "an arm for each defect, and nothing else")]
    pub(crate) fn plant(self, rules: &mut Rules) {
        let sql = &mut rules.sql;
        match self {
            Self::CheckThenInsert => {
                rules.preparation.push(store::WITHOUT_UNIQUE_KEY);
                sql.insert_job = store::PLAIN_INSERT;
                rules.claim = store::look_then_insert;
            }
            Self::UniqueViolationIs500 => {
                sql.insert_job = store::PLAIN_INSERT;
                rules.claim = store::look_then_insert;
            }
            Self::ClaimInMemory => {
                rules.preparation.push(store::WITHOUT_UNIQUE_KEY);
                sql.insert_job = store::PLAIN_INSERT;
                rules.claim = store::look_then_insert_in_memory;
            }
            Self::MismatchIgnored => rules.same_intent = |_, _| true,
            Self::InvalidBodyClaims => rules.refused = store::claim_for_nothing,
            Self::KeyIgnored => {
                rules.preparation.push(store::WITHOUT_UNIQUE_KEY);
                sql.insert_job = store::PLAIN_INSERT;
            }
            Self::PayloadIsKey => rules.claim = store::look_for_payload_then_insert,
            Self::KeylessAccepted => rules.read_key = wrong::key_made_up,
            Self::FirstKeyWins => rules.read_key = wrong::first_key,
            Self::KeyMended => rules.read_key = wrong::key_mended,
            Self::KeyTruncated => rules.key = |key| key.chars().take(64).collect(),
            Self::QuotedIsAnotherKey => rules.read_key = wrong::key_with_quotes,
            Self::AnonymousAccepted => rules.anonymous = Some("guest"),
            Self::FailedFreesKey => rules.claim = failed_frees_key,
            Self::ScheduledIgnoresKey => rules.scheduled_key = fresh_key,
            Self::BatchIgnoresKeys => rules.batch_key = fresh_key,
            Self::KeyWithoutOwner => rules.scope = |_| "everybody".to_owned(),
            Self::LookupIgnoresOwner => sql.load_owned = store::LOAD_ANYBODYS,
            Self::KeyCaseFolded => rules.key = str::to_ascii_lowercase,
            Self::FingerprintBodyOnly => rules.fingerprint = wrong::fingerprint_of_body,
            Self::BytesFingerprint => rules.fingerprint = wrong::fingerprint_of_bytes,
            Self::RoundedNumbers => rules.read = parse_rounding,
            Self::LastMemberWins => rules.read = parse_with_duplicates,
            Self::RetentionIgnoresState => {
                sql.expired = store::EXPIRED_BY_AGE;
                sql.bury = store::BURY_WITHOUT_TOMBSTONE;
            }
            Self::NoTombstone => sql.bury = store::BURY_WITHOUT_TOMBSTONE,
            Self::TimeoutIsFailed => rules.at_deadline = wrong::deadline_is_failure,
            Self::UnknownDoesNotBlock => {
                rules.preparation.extend(store::UNKNOWN_IS_NOT_LIVE);
                rules.start = wrong::start_beside_unknown;
                rules.pick_up = wrong::start_beside_unknown;
                sql.next_in_queue = store::NEXT_IN_QUEUE_OR_UNKNOWN;
            }
            Self::OverdueIsFailed => sql.escalate = store::ESCALATE_TO_FAILED,
            Self::ServerErrorIsFailed => rules.classify = wrong::server_error_is_failure,
            Self::DuplicateIsFailed => rules.classify = wrong::duplicate_is_failure,
            Self::NotFoundTooEarly => rules.conclude = wrong::believe_nothing_found,
            Self::LastWriterWins => {
                rules.succeed = wrong::succeed_anyhow;
                sql.finish = store::FINISH_UNCONDITIONALLY;
                sql.come_home = store::COME_HOME_ANYHOW;
            }
            Self::StatusOnlyCas => {
                rules.succeed = wrong::succeed_by_state;
                sql.finish = store::FINISH_BY_STATE;
                sql.come_home = store::COME_HOME_ANYHOW;
            }
            Self::WorkerNameFence => {
                rules.succeed = wrong::succeed_by_state;
                sql.finish = store::FINISH_BY_WORKER;
                sql.come_home = store::COME_HOME_ANYHOW;
            }
            Self::StartFences => {
                rules.start = wrong::start_and_bump;
                rules.pick_up = wrong::start_and_bump;
            }
            Self::LiveDoesNotBlock => {
                rules.preparation.push(store::ANY_NUMBER_LIVE);
                rules.start = wrong::start_beside_live;
            }
            Self::GivenUpRunsAgain => rules.cancel_attempt = wrong::cancel_attempt_and_requeue,
            Self::PreconditionIgnored => rules.allows = |_, _| true,
            Self::NoHeartbeat => rules.heartbeats = false,
            Self::ResultGivenUp => rules.waits_for_rows = false,
            Self::LapsedMeansRepeat => rules.lapse = wrong::lapse_and_repeat,
            Self::LeaseByWorkerClock => sql.lease = store::LEASE_BY_WORKER_CLOCK,
            Self::CancelOverwrites => rules.cancel_job = wrong::cancel_decided,
            Self::CancelIgnoresEffect => rules.cancel_job = wrong::cancel_under_way,
            Self::CancelFreesKey => rules.after_cancel = &[store::FREE_KEY],
            Self::UnsignedCallback => rules.authentic = wrong::anybody,
            Self::ReplayedCallback => rules.authentic = wrong::however_old,
            Self::CallbackEachTime => {
                sql.note_callback = store::NOTE_CALLBACK_EACH_TIME;
                rules.succeed = wrong::succeed_anyhow;
                sql.finish = store::FINISH_UNCONDITIONALLY;
                sql.come_home = store::COME_HOME_ANYHOW;
            }
            Self::AnswerBeforeCommit => rules.claim = answer_then_commit,
            Self::EnqueueAfterCommit => rules.claim = insert_then_enqueue,
            Self::KeyLockLeftBehind => {
                rules.preparation.push(store::KEY_LOCKS);
                rules.claim = store::lock_then_insert;
            }
            Self::DroppedWithTheClient => {
                rules.preparation.push(store::KEY_LOCKS);
                rules.claim = store::lock_think_then_insert;
                rules.outlives_client = false;
            }
            Self::TimerInMemory => rules.claim = store::insert_then_remember,
            Self::ShutdownAbandons => rules.drains = false,
            Self::AttemptAfterCommit => rules.between_job_and_attempt = Some(store::COMMIT_AND_GO_ON),
            Self::EffectBeforeMark => rules.mark = Mark::AfterTheCall,
            Self::HiddenResend => rules.resends = 1,
            Self::KeysInMemory => {
                rules.preparation.push(store::WITHOUT_UNIQUE_KEY);
                sql.insert_job = store::PLAIN_INSERT;
                rules.claim = store::remember_in_memory;
            }
            Self::BrokenIsRefused => rules.classify = wrong::broken_is_refused,
            Self::RefusedIsUnknown => rules.classify = wrong::refused_is_unknown,
            Self::AsynchronousCommit => rules.waits_for_commits = false,
            Self::NamedStatements => rules.heeds_pooler = false,
            Self::ReferencePerAttempt => rules.reference = |job, number| format!("{job}-{number}"),
            Self::TracePerAttempt => rules.trace = wrong::own_trace,
            Self::ConflictRepeatsEffect => rules.repeat_effect_on_conflict = true,
            Self::FailoverUngated => rules.may_move = wrong::move_anyhow,
            Self::FailoverOnUnknown => rules.at_deadline = wrong::deadline_is_overload,
            Self::AttestationCached => rules.time_of_question = |read| read,
            Self::PermitKept => rules.asks_again = false,
            Self::AttestationByName => rules.may_move = wrong::move_by_name,
        }
    }
}

/// A key that nobody sent.
fn fresh_key(_asked: &str) -> String {
    uuid::Uuid::new_v4().to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn each_defect_changes_the_rules_in_a_way_of_its_own() {
        let honest = format!("{:?}", Rules::honest());
        let mut seen = BTreeMap::from([(honest, "the honest service")]);
        for &defect in Defect::ALL {
            let mut rules = Rules::honest();
            defect.plant(&mut rules);
            let twin = seen.insert(format!("{rules:?}"), defect.name());
            assert_eq!(twin, None, "{defect} is the same");
        }
    }
}
