"""A job API over Absurd: the key is the idempotency key that its `spawn` takes."""

import os
import sys
import threading

import httpx
import jobs_asgi
import orders
import psycopg
from absurd_sdk import Absurd
from absurdctl import BUNDLED_SCHEMA_SQL

URL = os.environ["DATABASE_URL"].replace("postgres://", "postgresql://")


def carry_out(params, ctx):
    message = {"client_reference": str(ctx.task_id), "input": params["what"]}
    answer = httpx.post(orders.PROVIDER, json=message, timeout=orders.PATIENCE)
    answer.raise_for_status()
    return answer.json().get("result")


def connected():
    return psycopg.connect(URL, autocommit=True)


def enqueue(owner, key, what):
    # A connection for each request, so that requests meet in the database as they would in a pool.
    with connected() as connection:
        params = {"owner": owner, "what": what}
        # One attempt: what is asked here is how often one key is carried out.
        options = {"queue": "default", "max_attempts": 1, "idempotency_key": f"{owner}.{key}"}
        return str(Absurd(connection).spawn("carry_out", params, **options)["task_id"])


def look(job):
    with connected() as connection:
        ask = "SELECT params->>'owner' FROM absurd.t_default WHERE task_id::text = %s"
        found = connection.execute(ask, (job,)).fetchone()
        seen = found and Absurd(connection).fetch_task_result(job)
    return seen and (found[0], seen.state, seen.result)


def work():
    worker = Absurd(URL)
    worker.register_task(name="carry_out")(carry_out)
    worker.start_worker(concurrency=32, poll_interval=0.05)


if __name__ == "__main__":
    if sys.argv[1:] == ["migrate"]:
        with connected() as connection:
            # What `absurdctl init` applies.
            connection.execute(BUNDLED_SCHEMA_SQL)
            Absurd(connection).create_queue("default")
        sys.exit()
    threading.Thread(target=work, daemon=True).start()
    jobs_asgi.serve(jobs_asgi.app(enqueue, look))
