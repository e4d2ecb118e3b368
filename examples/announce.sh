#!/bin/sh
# A program for [[on]] rules. The event is one line of JSON on standard input; the words of the rule are arguments.
# This one appends to a file. For a message on your phone, replace the last line by, for example:
#   curl -fsS -H "Title: $1" -d "$2" https://ntfy.example/my-topic
set -eu
event=$(cat)                            # {"event":"ready","task":"t-x7kq","title":…}
printf '%s: %s\n%s\n' "$1" "$2" "$event" >> announced.log
