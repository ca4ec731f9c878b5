"""Serves one GGUF model with llama.cpp's own server until it is told to stop. Prints `LISTENING URL`."""

import signal
import sys

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.n_ctx = 4096
parameters.n_parallel = 2
parameters.cpuparams.n_threads = 2
parameters.port = 0
server = xllamacpp.Server(parameters)
print("LISTENING", server.listening_address, flush=True)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
