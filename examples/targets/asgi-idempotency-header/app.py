"""The order API behind asgi-idempotency-header, set up as its own documentation shows."""

import orders_asgi
from idempotency_header_middleware import IdempotencyHeaderMiddleware
from idempotency_header_middleware.backends import MemoryBackend

app = orders_asgi.app()
app.add_middleware(IdempotencyHeaderMiddleware, backend=MemoryBackend())

if __name__ == "__main__":
    orders_asgi.serve(app)
