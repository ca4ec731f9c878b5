"""A job API over DBOS: the key is the workflow's id, which its documentation calls an idempotency key."""

import os

import httpx
import jobs_asgi
import orders
from dbos import DBOS, SetWorkflowID

DBOS(
    config={
        "name": "orders",
        "system_database_url": os.environ["DATABASE_URL"].replace("postgres://", "postgresql://"),
        "run_admin_server": False,
    }
)


@DBOS.step()
def call_the_provider(job, what):
    answer = httpx.post(
        orders.PROVIDER, json={"client_reference": job, "input": what}, timeout=orders.PATIENCE
    )
    answer.raise_for_status()
    return answer.json().get("result")


@DBOS.workflow()
def carry_out(owner, what):
    return call_the_provider(DBOS.workflow_id, what)


def enqueue(owner, key, what):
    with SetWorkflowID(f"{owner}.{key}"):
        return DBOS.start_workflow(carry_out, owner, what).workflow_id


def look(job):
    status = DBOS.get_workflow_status(job)
    if status is None:
        return None
    return job.partition(".")[0], status.status, status.output


if __name__ == "__main__":
    DBOS.launch()
    jobs_asgi.serve(jobs_asgi.app(enqueue, look))
