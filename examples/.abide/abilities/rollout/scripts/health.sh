#!/bin/sh
# Pretends that one more region is healthy each time it is asked, up to the number that is given.
set -eu
mkdir -p build
count=0
if [ -f build/healthy ]; then
  read -r count <build/healthy
fi
if [ "$count" -lt "$1" ]; then
  count=$((count + 1))
fi
echo "$count" >build/healthy
printf '{"healthy": %s}\n' "$count"
