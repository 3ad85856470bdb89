#!/bin/bash
# usage: time_compile.sh LOG COMMAND...
# A compiler launcher: runs one compilation and adds a line to LOG: seconds of processor time, and the file it wrote.
log=$1
shift
output=-
for ((i = 1; i < $#; ++i)); do
    if [ "${!i}" = -o ]; then
        next=$((i + 1))
        output=${!next}
    fi
done
TIMEFORMAT='%U %S'
exec 3>&2
{ time "$@" 2>&3; } 2>"$log.$$"
status=$?
read -r user system <"$log.$$"
rm -f "$log.$$"
echo "$(awk -v u="$user" -v s="$system" 'BEGIN { printf "%.2f", u + s }') $output" >>"$log"
exit $status
