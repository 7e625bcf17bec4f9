#!/usr/bin/env bash
# The browser that the web tests drive.
set -euo pipefail

command -v chromium >/dev/null || exec "$(dirname "$0")/debian.sh" chromium fonts-dejavu-core
