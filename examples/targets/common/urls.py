"""Routes of the Django examples. An example that needs its own view puts `orders` into `VIEWS` before Django starts."""

import orders_django
from django.http import JsonResponse
from django.urls import path
from django.views.decorators.http import require_POST

VIEWS = {}


@require_POST
def orders(request):
    status, body = orders_django.create(request)
    return JsonResponse(body, status=status)


def order(request, order_id):
    status, body = orders_django.read(request, order_id)
    return JsonResponse(body, status=status)


urlpatterns = [
    path("orders", lambda request: VIEWS.get("orders", orders)(request)),
    path("orders/<str:order_id>", order),
]
