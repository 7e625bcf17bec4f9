#!/usr/bin/env bash
# Asks the registries for known vulnerabilities of the locked packages. Not a part of `make test`: it needs the network, and
# what it finds changes without us. Ends with 1 when something was found, and says so when nobody answers.
set -uo pipefail
cd "$(dirname "$0")/.."
found=0

# uv runs it apart from our environment; its result says whether it was the network or a finding.
echo "pip-audit: requirements/alicia.txt"
said=$(.venv/bin/uv tool run --quiet pip-audit --disable-pip --require-hashes -r requirements/alicia.txt 2>&1)
case $? in
0) echo "  no known vulnerabilities" ;;
*) if grep -q "Found [0-9]* known vulnerabilit" <<<"$said"; then echo "$said"; found=1; else echo "  not asked: ${said##*$'\n'}"; fi ;;
esac

echo "npm audit: web/package-lock.json"
said=$(scripts/setup/node.sh npm --prefix web audit --omit dev --package-lock-only 2>&1)
case $? in
0) echo "  no known vulnerabilities" ;;
*) if grep -q "Severity:\|vulnerabilities (" <<<"$said"; then echo "$said"; found=1; else echo "  not asked: $(grep -v "npm warn" <<<"$said" | head -n 1)"; fi ;;
esac
exit $found
