#!/bin/sh
# Writes the settings of one environment; running it twice gives the same file.
set -eu
mkdir -p build
printf 'ENVIRONMENT=%s\nREPLICAS=%s\n' "$1" "$2" >"build/$1.env"
echo "prepared $1 with $2 replicas"
