#!/bin/sh
# A run does not start when a hook before it fails.
command -v cksum >/dev/null || { echo "cksum is needed to build the package" >&2; exit 1; }
