"""A shop's order API, written without a thought of onejob. Whoever sends an Idempotency-Key twice gets one order."""

import os
import uuid
from typing import Literal

import httpx
from fastapi import FastAPI, Header, HTTPException
from pydantic import BaseModel

PAYMENTS = os.environ.get("PAYMENTS_URL", "http://127.0.0.1:9000")
app = FastAPI(title="Shop")
orders = {}
by_key = {}


class Order(BaseModel):
    item: str
    quantity: int = 1


class Placed(BaseModel):
    id: str
    status: Literal["pending", "paid", "declined"] = "pending"


@app.post("/orders", status_code=201)
async def place(order: Order, idempotency_key: str = Header()) -> Placed:
    if idempotency_key in by_key:
        return by_key[idempotency_key]
    placed = Placed(id=str(uuid.uuid4()))
    orders[placed.id] = placed
    async with httpx.AsyncClient(timeout=30) as payments:
        paid = await payments.post(PAYMENTS, json={"reference": placed.id, **order.model_dump()})
    placed.status = "paid" if paid.is_success else "declined"
    by_key[idempotency_key] = placed
    return placed


@app.get("/orders/{order_id}")
async def read(order_id: str) -> Placed:
    if order_id not in orders:
        raise HTTPException(404)
    return orders[order_id]
