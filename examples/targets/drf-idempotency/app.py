"""The order API behind drf-idempotency, set up as its quick start shows, with the database backend."""

import orders_django

orders_django.configure(
    ["drf_idempotency.middleware.IdempotencyMiddleware"],
    ["drf_idempotency"],
    IDEMPOTENCY={"BACKEND": "drf_idempotency.backends.database.DatabaseBackend"},
)
orders_django.serve()
