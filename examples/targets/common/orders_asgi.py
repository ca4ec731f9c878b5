"""The order API for ASGI: `POST /orders` answers when the provider has; `GET /orders/{id}` reads an order."""

import json
import os
import sys

import httpx
import orders
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

BOOK = {}
CLIENT = httpx.AsyncClient(timeout=orders.PATIENCE, limits=httpx.Limits(max_connections=None))


def refusals_are_answers(handler):
    async def handle(request):
        try:
            return await handler(request)
        except orders.Refused as refused:
            return JSONResponse({"error": refused.why}, refused.status)

    return handle


@refusals_are_answers
async def create(request):
    owner = orders.owner_of(request.headers.get("authorization"))
    try:
        what = orders.checked(json.loads(await request.body()))
    except ValueError as error:
        raise orders.Refused(400, "no JSON") from error
    order = orders.new_order(owner, what)
    BOOK[order["id"]] = order
    try:
        answer = await CLIENT.post(orders.PROVIDER, json=orders.message(order))
        orders.settle(order, answer.status_code, answer.json())
    except (httpx.HTTPError, ValueError):
        orders.settle(order, None, None)
    return JSONResponse(orders.shown(order), 201)


@refusals_are_answers
async def read(request):
    owner = orders.owner_of(request.headers.get("authorization"))
    order = BOOK.get(request.path_params["id"])
    if order is None or order["owner"] != owner:
        raise orders.Refused(404, "no such order")
    return JSONResponse(orders.shown(order))


def app():
    """The API without any protection."""
    return Starlette(routes=[Route("/orders", create, methods=["POST"]), Route("/orders/{id}", read)])


def serve(protected):
    """Serves it on a free port, or on the one in PORT, and prints the address."""
    sys.stdout.reconfigure(line_buffering=True)
    uvicorn.run(protected, host="127.0.0.1", port=int(os.environ.get("PORT", "0")), access_log=False)
