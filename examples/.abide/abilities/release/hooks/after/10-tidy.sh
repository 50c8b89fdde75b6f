#!/bin/sh
# Runs last, whatever came of the run.
rm -f build/*.tmp
