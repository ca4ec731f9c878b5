"""A provider for trying things by hand: does what it is asked to, slowly, and counts it. `GET /` tells how often."""

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DONE = []


class Provider(BaseHTTPRequestHandler):
    def answer(self, what):
        body = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        DONE.append(1)
        time.sleep(float(os.environ.get("SLOW", "0.3")))
        self.answer({"result": f"effect {len(DONE)}"})

    def do_GET(self):
        self.answer({"effects": len(DONE)})

    def log_message(self, *arguments):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Provider).serve_forever()
