//! Statements that public services went wrong with. Each takes the parameters of the honest one that it replaces.

/// Makes the job without asking whether the key is taken.
pub(crate) const PLAIN_INSERT: &str = "WITH made AS ( \
        INSERT INTO jobs (id, owner, idempotency_key, fingerprint, fingerprint_version, kind, input, mode, providers, \
                          traceparent, run_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, \
                coalesce('epoch'::timestamptz + $11::bigint * interval '1 microsecond', now())) \
        RETURNING id, (extract(epoch FROM created_at) * 1000000)::bigint AS created_at, \
                  (extract(epoch FROM run_at) * 1000000)::bigint AS run_at \
     ), logged AS (INSERT INTO job_events (job_id, kind) SELECT id, 'created' FROM made) \
     SELECT created_at, run_at FROM made";

/// Takes the uniqueness of keys out of the database.
pub(crate) const WITHOUT_UNIQUE_KEY: &str = "ALTER TABLE jobs DROP CONSTRAINT IF EXISTS jobs_one_per_intent";

/// Makes two transactions of one.
pub(crate) const COMMIT_AND_GO_ON: &str = "COMMIT; BEGIN ISOLATION LEVEL READ COMMITTED";

/// Takes attempts whose outcome is unknown out of the index that allows one live attempt.
pub(crate) const UNKNOWN_IS_NOT_LIVE: [&str; 2] = [
    "DROP INDEX IF EXISTS attempts_one_live",
    "CREATE UNIQUE INDEX attempts_one_live ON attempts (job_id) WHERE exclusive AND state IN ('starting', 'running')",
];

/// The database lets any number of attempts be live.
pub(crate) const ANY_NUMBER_LIVE: &str = "DROP INDEX IF EXISTS attempts_one_live";

/// Room for keys that were locked before there is a job.
pub(crate) const KEY_LOCKS: &str = "CREATE TABLE IF NOT EXISTS key_locks (owner text NOT NULL, \
    idempotency_key text COLLATE \"C\" NOT NULL, PRIMARY KEY (owner, idempotency_key))";

/// The result is written whoever comes.
pub(crate) const FINISH_UNCONDITIONALLY: &str = "UPDATE jobs SET result = $3, completed_by = $4, state = 'succeeded', version = version + 1, \
        cancel = CASE WHEN cancel = 'requested' THEN 'too_late' ELSE cancel END, \
        attention = NULL, unknown_since = NULL, settled_at = now(), updated_at = now() \
     WHERE id = $1 AND $2::bigint IS NOT NULL";

/// The result is written while the job looks undecided, whoever comes.
pub(crate) const FINISH_BY_STATE: &str = "UPDATE jobs SET result = $3, completed_by = $4, state = 'succeeded', version = version + 1, \
        cancel = CASE WHEN cancel = 'requested' THEN 'too_late' ELSE cancel END, \
        attention = NULL, unknown_since = NULL, settled_at = now(), updated_at = now() \
     WHERE id = $1 AND state NOT IN ('succeeded', 'failed', 'cancelled') AND $2::bigint IS NOT NULL";

/// The result is written while the same worker holds the job, by whatever attempt.
pub(crate) const FINISH_BY_WORKER: &str = "UPDATE jobs SET result = $3, completed_by = $4, state = 'succeeded', version = version + 1, \
        cancel = CASE WHEN cancel = 'requested' THEN 'too_late' ELSE cancel END, \
        attention = NULL, unknown_since = NULL, settled_at = now(), updated_at = now() \
     WHERE id = $1 AND $2::bigint IS NOT NULL AND completed_by IS NULL \
       AND (SELECT worker FROM attempts WHERE job_id = $1 AND number = $4) = \
           (SELECT worker FROM attempts WHERE job_id = $1 ORDER BY number DESC LIMIT 1)";

/// The winner may have been over already.
pub(crate) const COME_HOME_ANYHOW: &str = "UPDATE attempts SET state = CASE WHEN number = $2 THEN 'succeeded' ELSE 'superseded' END, \
        provider_reference = CASE WHEN number = $2 THEN coalesce($3, provider_reference) ELSE provider_reference END, \
        ended_at = now(), lease_until = NULL, probe_at = NULL \
     WHERE job_id = $1 AND (number = $2 OR state IN ('starting', 'running', 'unknown')) RETURNING number";

/// Unknown jobs are work like any other.
pub(crate) const NEXT_IN_QUEUE_OR_UNKNOWN: &str = "SELECT id FROM jobs j \
     WHERE run_at <= now() AND (state = 'queued' AND attention IS NULL OR state = 'unknown' \
           AND (SELECT count(*) FROM attempts a WHERE a.job_id = j.id) < 3) \
     ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED";

/// Anybody's job, by its id alone.
pub(crate) const LOAD_ANYBODYS: &str =
    concat!("SELECT ", super::job_columns!(), " FROM jobs j WHERE j.id = $1 AND $2::text IS NOT NULL");

/// The lease runs by the worker's clock.
pub(crate) const LEASE_BY_WORKER_CLOCK: &str = "UPDATE attempts SET \
        lease_until = 'epoch'::timestamptz + ($3::bigint + $4::bigint) * interval '1 microsecond' \
     WHERE job_id = $1 AND number = $2 AND state IN ('starting', 'running')";

/// An outcome that stays unknown is taken for a failure.
pub(crate) const ESCALATE_TO_FAILED: &str = "WITH raised AS ( \
        UPDATE jobs SET state = 'failed', version = version + 1, unknown_since = NULL, settled_at = now(), \
            failure = '{\"code\":\"timed-out\",\"message\":\"no outcome in time\"}', updated_at = now() \
        WHERE state = 'unknown' AND unknown_since < now() - $1::bigint * interval '1 microsecond' RETURNING id) \
     INSERT INTO job_events (job_id, kind, detail) SELECT id, 'job-failed', 'no outcome in time' FROM raised";

/// Old is old, whatever the state.
pub(crate) const EXPIRED_BY_AGE: &str = "SELECT id FROM jobs \
     WHERE created_at < now() - $1::bigint * interval '1 microsecond' AND purged_at IS NULL \
     ORDER BY created_at LIMIT 256";

/// The key goes with the job.
pub(crate) const BURY_WITHOUT_TOMBSTONE: &str = "DELETE FROM jobs WHERE id = $1";

/// The key of a cancelled job is free again.
pub(crate) const FREE_KEY: &str = "UPDATE jobs SET idempotency_key = 'freed-' || id WHERE id = $1";

/// Every delivery counts as the first.
pub(crate) const NOTE_CALLBACK_EACH_TIME: &str = "INSERT INTO callback_events (provider, event_id, job_id) VALUES ($1, $2 || '-' || gen_random_uuid(), $3)";
