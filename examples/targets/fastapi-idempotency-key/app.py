"""The order API behind fastapi-idempotency-key, set up as its own documentation shows."""

import orders_asgi
from fastapi_idempotency_key import IdempotencyMiddleware, MemoryBackend

app = orders_asgi.app()
app.add_middleware(IdempotencyMiddleware, backend=MemoryBackend())

if __name__ == "__main__":
    orders_asgi.serve(app)
