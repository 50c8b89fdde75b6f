#!/bin/sh
# Pretends to start a version in a region.
set -eu
mkdir -p build
printf '%s\n' "$2" >"build/region-$1"
echo "$1 runs $2"
