#!/bin/sh
# The agent of the recording: it does what an agent does with the board, but writes no code worth reading.
set -eu
pause() { sleep "$(awk -v seed="$(printf %s "$RALPH_TASK$RALPH_COMMAND" | cksum | cut -d' ' -f1)" -v from="$1" 'BEGIN { srand(seed); print from + 1.5 * rand() }')"; }
title=$(sed -n 's/^title = "\(.*\)"$/\1/p' "$RALPH_BOARD/.ralph/tasks/$RALPH_TASK.toml")
case $RALPH_COMMAND in
triage)
  pause 0.4
  ralph move "$RALPH_TASK" Backlog --for triage
  ;;
implement)
  pause 2
  case $title in
  *refunds*)
    if ! ralph show "$RALPH_TASK" --json | grep -q '"kind":"answer"'; then
      ralph ask "$RALPH_TASK" "Refund the shipping, too?" --option Always --option "Only if the order was late" --for implement
      exit
    fi
    ;;
  esac
  echo "$title" >"$RALPH_TASK.txt"
  git add "$RALPH_TASK.txt"
  git commit --quiet --message "$title"
  ralph move "$RALPH_TASK" __COMPLETE__ --for implement
  ;;
esac
