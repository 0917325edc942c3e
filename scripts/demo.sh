#!/bin/sh
# Runs `reparto plan` on each folder of examples/, and last `reparto validate` on the one whose manifests are broken on purpose.
# Something pending (exit status 1) is a result; a status worse than the folder deserves is a failure of the demo.
set -u

# In a pipe tables are as wide as they like. The demo is for reading: there it prints what README.md shows.
[ -t 1 ] || export REPARTO_COLUMNS="${REPARTO_COLUMNS:-100}"

show() {
    worst=$1
    shift
    printf '$ %s\n' "$*"
    "$@"
    status=$?
    printf '\n'
    if [ "$status" -gt "$worst" ]; then
        echo "demo: $* ended with exit status $status" >&2
        exit "$status"
    fi
}

for folder in examples/*/; do
    folder=${folder%/}
    [ "$folder" = examples/broken ] || show 1 reparto plan -f "$folder"
done
show 2 reparto validate -f examples/broken
