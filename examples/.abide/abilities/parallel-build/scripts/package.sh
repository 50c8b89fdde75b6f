#!/bin/sh
# Writes the checksums of all components into one manifest.
set -eu
cksum build/*.txt >"build/$1.manifest"
echo "packaged $1"
