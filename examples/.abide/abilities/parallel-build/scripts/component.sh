#!/bin/sh
# Builds one component: a stand-in for a compiler.
set -eu
mkdir -p build
printf 'component %s\n' "$1" >"build/$1.txt"
echo "built $1"
