"""The order API for Django: `POST /orders` answers when the provider has; `GET /orders/{id}` reads an order.

The implementation's own settings are given by the example, and its tables are in the database in DATABASE_URL.
"""

import json
import os
import sys
import urllib.parse

import django
import httpx
import orders
import waitress
from django.conf import settings

BOOK = {}
CLIENT = httpx.Client(timeout=orders.PATIENCE, limits=httpx.Limits(max_connections=None))


def configure(middleware, apps=(), **own):
    """Sets Django up, as an example's `settings.py` would; with `migrate` as argument it prepares the database and ends."""
    settings.configure(
        SECRET_KEY="of the example",
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF="urls",
        MIDDLEWARE=middleware,
        INSTALLED_APPS=list(apps),
        DATABASES=database(),
        USE_TZ=True,
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        **own,
    )
    django.setup()
    if sys.argv[1:] == ["migrate"]:
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        sys.exit()


def database():
    """Django's settings for the database in DATABASE_URL; none without it."""
    if "DATABASE_URL" not in os.environ:
        return {}
    url = urllib.parse.urlsplit(os.environ["DATABASE_URL"])
    options = dict(urllib.parse.parse_qsl(url.query))
    return {
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": url.path.lstrip("/"),
            "USER": urllib.parse.unquote(url.username or ""),
            "PASSWORD": urllib.parse.unquote(url.password or ""),
            "HOST": options.pop("host", None) or url.hostname or "",
            "PORT": options.pop("port", None) or url.port or "",
        }
    }


def create(request):
    """Carries an order out; returns the status and the body of the answer."""
    try:
        owner = orders.owner_of(request.headers.get("authorization"))
        try:
            what = orders.checked(json.loads(request.body))
        except ValueError:
            raise orders.Refused(400, "no JSON") from None
    except orders.Refused as refused:
        return refused.status, {"error": refused.why}
    order = orders.new_order(owner, what)
    BOOK[order["id"]] = order
    try:
        answer = CLIENT.post(orders.PROVIDER, json=orders.message(order))
        orders.settle(order, answer.status_code, answer.json())
    except (httpx.HTTPError, ValueError):
        orders.settle(order, None, None)
    return 201, orders.shown(order)


def read(request, order_id):
    """Reads an order; returns the status and the body of the answer."""
    try:
        owner = orders.owner_of(request.headers.get("authorization"))
        order = BOOK.get(order_id)
        if order is None or order["owner"] != owner:
            raise orders.Refused(404, "no such order")
    except orders.Refused as refused:
        return refused.status, {"error": refused.why}
    return 200, orders.shown(order)


def serve():
    """Serves it on a free port, or on the one in PORT, and prints the address."""
    from django.core.wsgi import get_wsgi_application

    server = waitress.create_server(
        get_wsgi_application(), host="127.0.0.1", port=int(os.environ.get("PORT", "0")), threads=48
    )
    sys.stdout.reconfigure(line_buffering=True)
    print(f"running on http://127.0.0.1:{server.effective_port}")
    server.run()
