"""Serves one GGUF model with llama.cpp's own server until its standard input ends. Prints `LISTENING URL`."""

import sys

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.n_ctx = 4096
parameters.n_parallel = 2
# One thread: with more, a busy machine spends its time waiting at barriers.
parameters.cpuparams.n_threads = 1
parameters.port = 0
server = xllamacpp.Server(parameters)
print("LISTENING", server.listening_address, flush=True)
# The pipe ends when the lane does, however it ends.
sys.stdin.read()
