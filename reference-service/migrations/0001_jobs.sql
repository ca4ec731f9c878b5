-- One intent is one row of `jobs`: the key lives on the job, so there is never a key without its job or a job without
-- its key.
CREATE TABLE jobs (
    id                  uuid        PRIMARY KEY,
    owner               text        NOT NULL,
    idempotency_key     text        COLLATE "C" NOT NULL,
    fingerprint         bytea       NOT NULL,
    fingerprint_version smallint    NOT NULL,
    kind                text        NOT NULL,
    -- Texts and never jsonb: jsonb forgets duplicate members and the spelling of numbers.
    input               text        NOT NULL,
    mode                text        NOT NULL DEFAULT 'exclusive' CHECK (mode IN ('exclusive', 'race')),
    providers           text[]      NOT NULL DEFAULT '{}',
    traceparent         text,
    state               text        NOT NULL DEFAULT 'queued'
                        CHECK (state IN ('queued', 'running', 'unknown', 'succeeded', 'failed', 'cancelled')),
    version             bigint      NOT NULL DEFAULT 1,
    completed_by        integer,
    result              text,
    failure             text,
    cancel              text        NOT NULL DEFAULT 'none' CHECK (cancel IN ('none', 'requested', 'too_late', 'done')),
    attention           text        CHECK (attention IN ('awaiting-attempt', 'unknown-overdue')),
    run_at              timestamptz NOT NULL DEFAULT now(),
    unknown_since       timestamptz,
    settled_at          timestamptz,
    -- Set when retention removed the content. The row stays as the tombstone of its key.
    purged_at           timestamptz,
    created_at          timestamptz NOT NULL DEFAULT now(),
    updated_at          timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT jobs_one_per_intent UNIQUE (owner, idempotency_key)
) WITH (fillfactor = 70);

CREATE INDEX jobs_queue ON jobs (run_at) WHERE state = 'queued' AND attention IS NULL;
CREATE INDEX jobs_unknown ON jobs (unknown_since) WHERE state = 'unknown';
CREATE INDEX jobs_retention ON jobs (settled_at) WHERE settled_at IS NOT NULL AND purged_at IS NULL;
CREATE INDEX jobs_of_owner ON jobs (owner, id);

CREATE TABLE attempts (
    job_id             uuid        NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    number             integer     NOT NULL,
    exclusive          boolean     NOT NULL,
    provider           text        NOT NULL,
    state              text        NOT NULL DEFAULT 'starting'
                       CHECK (state IN ('starting', 'running', 'succeeded', 'failed', 'unknown', 'cancelled', 'superseded')),
    job_version        bigint      NOT NULL,
    -- For people. The identity of an acquisition is (job_id, number), never the name of a worker.
    worker             text,
    lease_until        timestamptz,
    effect_started_at  timestamptz,
    provider_reference text,
    detail             text,
    probe_at           timestamptz,
    probes             integer     NOT NULL DEFAULT 0,
    started_at         timestamptz NOT NULL DEFAULT now(),
    ended_at           timestamptz,
    PRIMARY KEY (job_id, number)
) WITH (fillfactor = 70);

-- The database itself refuses a second live attempt of an exclusive job.
CREATE UNIQUE INDEX attempts_one_live ON attempts (job_id)
    WHERE exclusive AND state IN ('starting', 'running', 'unknown');
CREATE INDEX attempts_to_claim ON attempts (started_at) WHERE state = 'starting' AND lease_until IS NULL;
CREATE INDEX attempts_leased ON attempts (lease_until) WHERE state IN ('starting', 'running') AND lease_until IS NOT NULL;
CREATE INDEX attempts_to_probe ON attempts (probe_at) WHERE state = 'unknown' AND probe_at IS NOT NULL;

-- Append-only. No foreign key: the log outlives what it tells of.
CREATE TABLE job_events (
    seq     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id  uuid        NOT NULL,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind    text        NOT NULL,
    attempt integer,
    detail  text
);
CREATE INDEX job_events_of_job ON job_events (job_id, seq);

-- Results that arrived and were not used.
CREATE TABLE attempt_reports (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id      uuid        NOT NULL,
    attempt     integer     NOT NULL,
    at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    source      text        NOT NULL CHECK (source IN ('worker', 'callback', 'probe', 'operator')),
    outcome     text        NOT NULL CHECK (outcome IN ('succeeded', 'failed')),
    result      text,
    read_version bigint     NOT NULL,
    job_version bigint      NOT NULL
);
CREATE INDEX attempt_reports_of_job ON attempt_reports (job_id, id);

-- One row per callback ever taken, whichever replica took it.
CREATE TABLE callback_events (
    provider    text        NOT NULL,
    event_id    text        NOT NULL,
    job_id      uuid,
    received_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (provider, event_id)
);
CREATE INDEX callback_events_of_job ON callback_events (job_id);

CREATE TABLE api_tokens (
    -- SHA-256 of the token: a leaked table opens nothing, and a lookup by hash leaks no timing of the secret.
    digest     bytea       PRIMARY KEY,
    owner      text        NOT NULL,
    role       text        NOT NULL CHECK (role IN ('user', 'operator')),
    created_at timestamptz NOT NULL DEFAULT now()
);
