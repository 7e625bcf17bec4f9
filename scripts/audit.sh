#!/usr/bin/env bash
# Asks the registries for known vulnerabilities of the locked packages. Not a part of `make test`: it needs the network, and
# what it finds changes without us. Ends with 1 when something was found; says so when a registry does not know.
set -uo pipefail
cd "$(dirname "$0")/.."
found=0
unasked=0

echo "pip-audit: requirements/alicia.txt"
# uv runs it apart from our environment.
said=$(.venv/bin/uv tool run --quiet pip-audit --disable-pip --require-hashes -r requirements/alicia.txt 2>&1)
code=$?
packages=$(grep -c == requirements/alicia.txt)
unknown=$(grep -c "could not be audited" <<<"$said")
if grep -q "Found [0-9]* known vulnerabilit" <<<"$said"; then
    echo "$said"
    found=1
elif [ $code = 0 ] && [ "$unknown" -lt "$packages" ]; then
    echo "  nothing known of $((packages - unknown)) packages; $unknown could not be looked up"
else
    echo "  not looked up: no registry here knows the packages ($(tail -n 1 <<<"$said"))"
    unasked=1
fi

echo "npm audit: web/package-lock.json"
said=$(scripts/setup/node.sh npm --prefix web audit --omit dev --package-lock-only 2>&1)
if [ $? = 0 ]; then
    echo "  nothing known"
elif grep -q "^Severity:" <<<"$said"; then
    echo "$said"
    found=1
else
    reason=$(grep -E "npm (warn|error) audit" <<<"$said" | head -n 1 | sed -E 's/^npm (warn|error) audit //; s/ - .*//')
    echo "  not looked up: this machine's registry does not answer that (${reason:-no reason given}); none of $(
        grep -c '"integrity"' web/package-lock.json) packages was asked about"
    unasked=1
fi
if [ $found = 0 ] && { [ $unasked = 1 ] || [ "$unknown" -gt 0 ]; }; then
    echo "Nothing bad was found, but not everything was asked: run this where the public registries can be reached."
fi
exit $found
