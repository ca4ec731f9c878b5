"""The order API as a Lambda function under the idempotency utility of aws-lambda-powertools, called as the gateway would.

The utility's table is in moto, a stand-in for DynamoDB. The key is built of the owner and the header, and the body is
validated, as the utility's documentation shows.
"""

import os

os.environ |= {
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_LAMBDA_FUNCTION_NAME": "orders",
}

import json
import sys
import threading

import boto3
import httpx
import orders
import uvicorn
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent,
)
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyAlreadyInProgressError,
    IdempotencyKeyError,
    IdempotencyValidationError,
)
from moto import mock_aws
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

mock_aws().start()
boto3.client("dynamodb").create_table(
    TableName="keys",
    AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
    BillingMode="PAY_PER_REQUEST",
)
BOOK = {}
CLIENT = httpx.Client(timeout=orders.PATIENCE, limits=httpx.Limits(max_connections=None))


class Table(DynamoDBPersistenceLayer):
    """A conditional write of DynamoDB is atomic; the stand-in's is only under a lock."""

    lock = threading.Lock()

    def _put_record(self, *arguments, **named):
        with self.lock:
            return super()._put_record(*arguments, **named)


class Context:
    """What a function is told of its run."""

    invoked_function_arn = "arn:aws:lambda:eu-central-1:0:function:orders"
    function_name = "orders"

    @staticmethod
    def get_remaining_time_in_millis():
        return 60_000


config = IdempotencyConfig(
    event_key_jmespath='[requestContext.authorizer.owner, headers."idempotency-key"]',
    payload_validation_jmespath="body",
    raise_on_no_idempotency_key=True,
)


@idempotent(config=config, persistence_store=Table(table_name="keys"))
def handler(event, context):
    order = orders.new_order(event["requestContext"]["authorizer"]["owner"], event["body"]["input"])
    BOOK[order["id"]] = order
    try:
        answer = CLIENT.post(orders.PROVIDER, json=orders.message(order))
        orders.settle(order, answer.status_code, answer.json())
    except (httpx.HTTPError, ValueError):
        orders.settle(order, None, None)
    return {"statusCode": 201, "body": json.dumps(orders.shown(order))}


def invoke(owner, headers, body):
    event = {"requestContext": {"authorizer": {"owner": owner}}, "headers": headers, "body": body}
    try:
        return handler(event, Context())
    except IdempotencyAlreadyInProgressError as error:
        return {"statusCode": 409, "body": json.dumps({"error": str(error)})}
    except IdempotencyValidationError as error:
        return {"statusCode": 422, "body": json.dumps({"error": str(error)})}
    except IdempotencyKeyError as error:
        return {"statusCode": 400, "body": json.dumps({"error": str(error)})}


async def create(request):
    try:
        owner = orders.owner_of(request.headers.get("authorization"))
        try:
            body = json.loads(await request.body())
        except ValueError:
            raise orders.Refused(400, "no JSON") from None
        orders.checked(body)
    except orders.Refused as refused:
        return JSONResponse({"error": refused.why}, refused.status)
    answer = await run_in_threadpool(invoke, owner, dict(request.headers), body)
    return Response(answer["body"], answer["statusCode"], media_type="application/json")


async def read(request):
    try:
        owner = orders.owner_of(request.headers.get("authorization"))
        order = BOOK.get(request.path_params["id"])
        if order is None or order["owner"] != owner:
            raise orders.Refused(404, "no such order")
    except orders.Refused as refused:
        return JSONResponse({"error": refused.why}, refused.status)
    return JSONResponse(orders.shown(order))


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    app = Starlette(routes=[Route("/orders", create, methods=["POST"]), Route("/orders/{id}", read)])
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ.get("PORT", "0")), access_log=False)
