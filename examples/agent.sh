#!/bin/sh
# An agent in 20 lines of shell, for a board with the workflow `simple`:
#
#   ralph team --ready -- /path/to/agent.sh '{prompt_file}'
#
# ralph claims a task, makes its worktree and starts this program there. The environment has RALPH_TASK,
# RALPH_COMMAND, RALPH_ROLE, RALPH_WORKER, RALPH_BOARD and RALPH_WORKTREE; `$1` is the file with the prompt.
# On this workflow a task is finished by merging its branch, so the agent ends with `ralph merge`.
set -eu

title=$(sed -n 's/^title = "\(.*\)"$/\1/p' "$RALPH_BOARD/.ralph/tasks/$RALPH_TASK.toml")
echo "$RALPH_COMMAND $RALPH_TASK: $title"             # goes to the log: ralph runs tail TASK

if [ "$RALPH_COMMAND" != implement ]; then
  ralph note "$RALPH_TASK" "agent.sh can only implement, not $RALPH_COMMAND."
  exec ralph escalate "$RALPH_TASK" --for "$RALPH_COMMAND"
fi

# The work. Replace these lines with a call to your model: my-model < "$1"
echo "$title" > "$RALPH_TASK.txt"
git add "$RALPH_TASK.txt"
git commit --quiet --message "$title ($RALPH_TASK)"
ralph merge "$RALPH_TASK"
