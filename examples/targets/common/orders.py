"""A shop's order API, as small as it can be: every order is carried out by one call to a provider.

The examples put an idempotency implementation around it. Nothing here knows of keys: without an implementation, each
request is an order of its own.
"""

import os
import uuid

TOKENS = {"alice-of-the-example": "alice", "bob-of-the-example": "bob"}
PROVIDER = os.environ.get("PROVIDER_URL", "http://127.0.0.1:9")
PATIENCE = float(os.environ.get("PATIENCE", "30s").removesuffix("ms").removesuffix("s")) / (
    1000 if os.environ.get("PATIENCE", "30s").endswith("ms") else 1
)


class Refused(Exception):
    """A request that is refused for its own sake, before anything is done."""

    def __init__(self, status, why):
        super().__init__(why)
        self.status = status
        self.why = why


def owner_of(authorization):
    """Who asks, from the `Authorization` header."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or token not in TOKENS:
        raise Refused(401, "who are you?")
    return TOKENS[token]


def checked(body):
    """The order's input: an object with a member `input`."""
    if not isinstance(body, dict) or not isinstance(body.get("input"), dict):
        raise Refused(400, "an order is an object with a member `input`")
    return body["input"]


def new_order(owner, what):
    """A fresh order that nobody has worked on."""
    return {"id": str(uuid.uuid4()), "owner": owner, "state": "running", "input": what, "result": None}


def message(order):
    """What the provider is sent."""
    return {"client_reference": order["id"], "input": order["input"]}


def settle(order, status, answer):
    """Writes the provider's answer into the order; a status of None says that there was none."""
    if status == 200:
        order.update(state="succeeded", result=answer.get("result"))
    elif status is not None and 400 <= status < 500:
        order.update(state="failed")
    else:
        order.update(state="unknown")


def shown(order):
    """The order as its owner sees it."""
    return {name: order[name] for name in ("id", "state", "result")}
