"""A job API over procrastinate: the key is a queueing lock, and a job that waits under it is the answer to a duplicate."""

import os
import sys
import threading

import httpx
import jobs_asgi
import orders
import procrastinate
import psycopg
from procrastinate.exceptions import AlreadyEnqueued

URL = os.environ["DATABASE_URL"].replace("postgres://", "postgresql://")
queue = procrastinate.App(connector=procrastinate.SyncPsycopgConnector(conninfo=URL, min_size=1, max_size=40))
workers = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=URL, min_size=1, max_size=10))
RESULTS = {}


def carry_out(job, what):
    answer = httpx.post(orders.PROVIDER, json={"client_reference": job, "input": what}, timeout=orders.PATIENCE)
    answer.raise_for_status()
    RESULTS[job] = answer.json().get("result")


for app in (queue, workers):
    app.task(name="carry_out", pass_context=False)(carry_out)


def enqueue(owner, key, what):
    lock = f"{owner}.{key}"
    ask = "SELECT args->>'job' FROM procrastinate_jobs WHERE queueing_lock = %s ORDER BY id DESC LIMIT 1"
    job = orders.new_order(owner, what)["id"]
    try:
        queue.configure_task("carry_out", queueing_lock=lock).defer(job=job, what=what | {"owner": owner})
    except AlreadyEnqueued:
        with psycopg.connect(URL) as connection:
            (job,) = connection.execute(ask, (lock,)).fetchone()
    return job


def look(job):
    ask = "SELECT args->'what'->>'owner', status::text FROM procrastinate_jobs WHERE args->>'job' = %s"
    with psycopg.connect(URL) as connection:
        found = connection.execute(ask, (job,)).fetchone()
    return found and (*found, RESULTS.get(job))


def work():
    import asyncio

    async def run():
        async with workers.open_async():
            await workers.run_worker_async(concurrency=32, install_signal_handlers=False, fetch_job_polling_interval=0.2)

    asyncio.run(run())


if __name__ == "__main__":
    with queue.open():
        if sys.argv[1:] == ["migrate"]:
            queue.schema_manager.apply_schema()
            sys.exit()
        threading.Thread(target=work, daemon=True).start()
        jobs_asgi.serve(jobs_asgi.app(enqueue, look))
