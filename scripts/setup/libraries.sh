#!/usr/bin/env bash
# libraries.sh run|test: the few system libraries that wheels expect, where the machine lacks them.
set -euo pipefail

missing=()
library() { /sbin/ldconfig -p | grep -q "$1" || missing+=("$2"); }
library libgomp.so.1 libgomp1 # the language model
if [ "$1" = test ]; then
    library libatomic.so.1 libatomic1 # the browser's driver
    command -v ip >/dev/null || missing+=(iproute2) # a link that a test cuts
fi
[ ${#missing[@]} = 0 ] || exec "$(dirname "$0")/debian.sh" "${missing[@]}"
