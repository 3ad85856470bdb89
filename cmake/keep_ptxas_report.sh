#!/bin/sh
# usage: keep_ptxas_report.sh FOLDER SOURCE COMMAND...
# Runs one compilation and keeps what ptxas says of its kernels in FOLDER/SOURCE.txt; everything else is passed on.
folder=$1
name=$(basename "$2")
shift 2
mkdir -p "$folder" || exit 1
output="$folder/$name.output"
"$@" >"$output" 2>&1
status=$?
# Besides "ptxas info" lines there are indented ones: the stack frame and the spills of the function named before.
grep -E '^ptxas info|^ +[0-9]+ bytes' "$output" >"$folder/$name.txt"
grep -vE '^ptxas info|^ +[0-9]+ bytes' "$output" >&2
rm -f "$output"
exit $status
