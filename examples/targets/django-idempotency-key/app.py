"""The order API behind django-idempotency-key, with the settings that its documentation calls the defaults.

`CONFLICT_STATUS_CODE` is None, so that a duplicate gets the first answer with its own status.
"""

import orders_django

orders_django.configure(
    ["idempotency_key.middleware.IdempotencyKeyMiddleware"],
    IDEMPOTENCY_KEY={"CONFLICT_STATUS_CODE": None},
)
orders_django.serve()
