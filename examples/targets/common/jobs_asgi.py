"""A job API for ASGI over a queue: `POST /jobs` answers at once; `GET /jobs/{id}` reads a job.

The key is the queue's own: an example gives `enqueue(owner, key, what)`, which returns the job's id, and `look(id)`,
which returns its owner, state and result, or nothing. A key is told apart by its owner, as every API over a queue has to.
"""

import json
import os
import sys

import orders
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Route


def app(enqueue, look):
    """The API over a queue."""

    async def create(request):
        try:
            owner = orders.owner_of(request.headers.get("authorization"))
            key = request.headers.get("idempotency-key")
            if not key:
                raise orders.Refused(400, "a job needs a key")
            try:
                what = orders.checked(json.loads(await request.body()))
            except ValueError:
                raise orders.Refused(400, "no JSON") from None
            job = await run_in_threadpool(enqueue, owner, key, what)
        except orders.Refused as refused:
            return JSONResponse({"error": refused.why}, refused.status)
        _, state, result = await run_in_threadpool(look, job)
        return JSONResponse({"id": job, "state": state, "result": result}, 202)

    async def read(request):
        try:
            asks = orders.owner_of(request.headers.get("authorization"))
            found = await run_in_threadpool(look, request.path_params["id"])
            if found is None or found[0] != asks:
                raise orders.Refused(404, "no such job")
        except orders.Refused as refused:
            return JSONResponse({"error": refused.why}, refused.status)
        return JSONResponse({"id": request.path_params["id"], "state": found[1], "result": found[2]})

    return Starlette(routes=[Route("/jobs", create, methods=["POST"]), Route("/jobs/{id}", read)])


def serve(api):
    """Serves it on a free port, or on the one in PORT, and prints the address."""
    sys.stdout.reconfigure(line_buffering=True)
    uvicorn.run(api, host="127.0.0.1", port=int(os.environ.get("PORT", "0")), access_log=False)
