"""The order API behind djangorestframework-idempotency-key: its middleware, and its decorator for simple views."""

import orders_django

orders_django.configure(
    ["rest_framework_idempotency_key.middleware.IdempotencyKeyMiddleware"],
    ["django.contrib.contenttypes", "django.contrib.auth", "rest_framework", "rest_framework_idempotency_key"],
    IDEMPOTENCY_KEY_LOCK_TIMEOUT=60,
    REST_FRAMEWORK={"DEFAULT_AUTHENTICATION_CLASSES": [], "UNAUTHENTICATED_USER": None},
)

import urls  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402
from rest_framework_idempotency_key.decorators import simple_idempotency_key_method  # noqa: E402


class Orders(APIView):
    @simple_idempotency_key_method
    def post(self, request):
        status, body = orders_django.create(request)
        return Response(body, status=status)


urls.VIEWS["orders"] = Orders.as_view()
orders_django.serve()
