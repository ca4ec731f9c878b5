/// The statements at which public services went wrong, as data: a defect replaces one and leaves the code alone.
#[derive(Debug, Clone)]
pub(crate) struct Statements {
    /// Makes the job if its key is new. `$1` id, `$2` owner, `$3` key, `$4` fingerprint, `$5` its version, `$6` kind,
    /// `$7` input, `$8` mode, `$9` providers, `$10` traceparent, `$11` run at (microseconds, or null for now).
    pub(crate) insert_job: &'static str,
    /// The compare-and-swap. `$1` id, `$2` version read, `$3` result, `$4` attempt.
    pub(crate) finish: &'static str,
    /// Moves the winner and whoever else is out. `$1` job, `$2` winner, `$3` provider reference.
    pub(crate) come_home: &'static str,
    /// The next job that a worker may pick up.
    pub(crate) next_in_queue: &'static str,
    /// The job of an owner. `$1` id, `$2` owner.
    pub(crate) load_owned: &'static str,
    /// Attempts whose lease ran out.
    pub(crate) lapsed: &'static str,
    /// Takes or renews a lease. `$1` job, `$2` attempt, `$3` length in microseconds, `$4` the worker's own clock in
    /// microseconds since 1970 (not used by the honest form).
    pub(crate) lease: &'static str,
    /// Raises attention for jobs that have been unknown for longer than `$1` microseconds, and logs it.
    pub(crate) escalate: &'static str,
    /// Jobs whose content is past retention. `$1` age in microseconds.
    pub(crate) expired: &'static str,
    /// Removes the content of one job. `$1` id.
    pub(crate) bury: &'static str,
    /// Takes note of a callback. `$1` provider, `$2` event id, `$3` job.
    pub(crate) note_callback: &'static str,
}

impl Statements {
    pub(crate) const fn honest() -> Self {
        Self {
            insert_job: "WITH made AS ( \
                    INSERT INTO jobs (id, owner, idempotency_key, fingerprint, fingerprint_version, kind, input, mode, \
                                      providers, traceparent, run_at) \
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, \
                            coalesce('epoch'::timestamptz + $11::bigint * interval '1 microsecond', now())) \
                    ON CONFLICT (owner, idempotency_key) DO NOTHING \
                    RETURNING id, (extract(epoch FROM created_at) * 1000000)::bigint AS created_at, \
                              (extract(epoch FROM run_at) * 1000000)::bigint AS run_at \
                 ), logged AS (INSERT INTO job_events (job_id, kind) SELECT id, 'created' FROM made) \
                 SELECT created_at, run_at FROM made",
            finish: "UPDATE jobs SET result = $3, completed_by = $4, state = 'succeeded', version = version + 1, \
                    cancel = CASE WHEN cancel = 'requested' THEN 'too_late' ELSE cancel END, \
                    attention = NULL, unknown_since = NULL, settled_at = now(), updated_at = now() \
                 WHERE id = $1 AND version = $2 AND completed_by IS NULL",
            come_home: "UPDATE attempts SET state = CASE WHEN number = $2 THEN 'succeeded' ELSE 'superseded' END, \
                    provider_reference = CASE WHEN number = $2 THEN coalesce($3, provider_reference) \
                                              ELSE provider_reference END, \
                    ended_at = now(), lease_until = NULL, probe_at = NULL \
                 WHERE job_id = $1 AND state IN ('starting', 'running', 'unknown') RETURNING number",
            next_in_queue: "SELECT id FROM jobs \
                 WHERE state = 'queued' AND attention IS NULL AND run_at <= now() \
                 ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED",
            load_owned: concat!(
                "SELECT ",
                super::job_columns!(),
                " FROM jobs j WHERE j.id = $1 AND j.owner = $2"
            ),
            lapsed: "SELECT job_id, number FROM attempts \
                 WHERE state IN ('starting', 'running') AND lease_until < now() ORDER BY lease_until LIMIT 64",
            lease: "UPDATE attempts SET lease_until = now() + $3::bigint * interval '1 microsecond' \
                 WHERE job_id = $1 AND number = $2 AND state IN ('starting', 'running') AND $4::bigint IS NOT NULL",
            escalate: "WITH raised AS (UPDATE jobs SET attention = 'unknown-overdue', updated_at = now() \
                    WHERE id IN (SELECT id FROM jobs WHERE state = 'unknown' AND attention IS NULL \
                        AND unknown_since < now() - $1::bigint * interval '1 microsecond' \
                        LIMIT 256 FOR UPDATE SKIP LOCKED) RETURNING id) \
                 INSERT INTO job_events (job_id, kind, detail) \
                 SELECT id, 'attention-raised', 'the outcome has been unknown for too long' FROM raised",
            expired: "SELECT id FROM jobs \
                 WHERE settled_at < now() - $1::bigint * interval '1 microsecond' AND purged_at IS NULL \
                   AND state IN ('succeeded', 'failed', 'cancelled') \
                 ORDER BY settled_at LIMIT 256 FOR UPDATE SKIP LOCKED",
            bury: "UPDATE jobs SET purged_at = now(), input = 'null', result = NULL, failure = NULL, traceparent = NULL, \
                    updated_at = now() \
                 WHERE id = $1 AND purged_at IS NULL",
            note_callback: "INSERT INTO callback_events (provider, event_id, job_id) VALUES ($1, $2, $3) \
                 ON CONFLICT (provider, event_id) DO NOTHING",
        }
    }
}
