#!/bin/sh
# An agent as workers start it: does what its command asks for, and reports with ralph.
# If $CTL/<title>.<command> exists, it says how to misbehave. It is read once unless it starts with "always".
set -eu
T=$RALPH_TASK
C=$RALPH_COMMAND
title=$(sed -n 's/^title = "\(.*\)"$/\1/p' "$RALPH_BOARD/.ralph/tasks/$T.toml")
echo "$C $title ($T) by $RALPH_WORKER in $(pwd)"
how=
if [ -f "$CTL/$title.$C" ]; then
    how=$(cat "$CTL/$title.$C")
    case $how in always*) how=${how#always } ;; *) rm "$CTL/$title.$C" ;; esac
fi
[ -z "${PACE:-}" ] || sleep "$PACE"

document() {
    document=$("$RALPH" artifact new "$1" "$T" --json | sed 's/.*"file":"\([^"]*\)".*/\1/')
    file=${touches:-src/$title.txt}
    verdict=${verdict:-APPROVED}
    status=$(echo "$verdict" | tr A-Z_ a-z-)
    sed -i -e "s|^- \`TO BE WRITTEN.*|- \`$file\`: it|" -e "s|\`TO BE WRITTEN.*|\`$file\`|" \
        -e "s|^VERDICT: TO BE.*|VERDICT: $verdict|" -e "s|^status: TO BE.*|status: $status|" \
        -e 's|TO BE WRITTEN.*|done|' "$document"
    "$RALPH" artifact link "$1" "$T"
}

case $how in
crash) kill -9 $$ ;;
fail) echo "I give up" >&2; exit 7 ;;
hang) sleep 600 ;;
idle) exit 0 ;;
lie) "$RALPH" move "$T" __COMPLETE__ --for "$C" || true; exit 0 ;;
stray) echo mine > "$RALPH_BOARD/stray.txt" ;;
stray-planned)
    mkdir -p "$RALPH_BOARD/src"
    echo mine > "$RALPH_BOARD/src/$title.txt"
    ;;
commit-main-hidden)
    env -u GIT_TRACE2_EVENT -u RALPH_RUN git -C "$RALPH_BOARD" commit --allow-empty -qm hidden
    ;;
move-main-unlogged)
    new=$(git -C "$RALPH_BOARD" commit-tree -p main -m unlogged 'main^{tree}')
    git -C "$RALPH_BOARD" -c core.logAllRefUpdates=false update-ref refs/heads/main "$new"
    ;;
commit-board)
    "$RALPH" commit
    ;;
commit-main)
    cd "$RALPH_BOARD"
    echo x > x.txt
    # Another task may be merged at this moment, and git does not wait for its lock.
    until git add x.txt && git commit -qm "on main"; do [ -n "${RALPH_RELAY:-}" ] && exit 1; sleep 0.1; done
    cd "$RALPH_WORKTREE"
    ;;
kill-worker)
    guard=$PPID
    kill -9 "$(sed 's/.*) [A-Z] \([0-9]*\).*/\1/' "/proc/$guard/stat")"
    sleep 600
    ;;
touches*) touches=${how#touches } ;;
reject) verdict=NEEDS_ITERATION ;;
escalate) "$RALPH" escalate "$T" --for "$C"; exit 0 ;;
keep) "$RALPH" move "$T" Backlog --for triage; exit 0 ;;
esac

case $C in
triage) "$RALPH" move "$T" "Research Needed" --for triage || "$RALPH" move "$T" Backlog --for triage ;;
split)
    printf '[[task]]\ntitle = "%s-%s"\nref = "%s"\nestimate = "S"\nblocked_by = %s\n' \
        "$title" one a '[]' "$title" two b '["a"]' | "$RALPH" split "$T" --into -
    ;;
research | plan)
    document "$C"
    "$RALPH" move "$T" __COMPLETE__ --for "$C"
    ;;
review)
    document review
    if [ "${verdict:-}" = NEEDS_ITERATION ]; then to="Ready for Plan"; else to=__COMPLETE__; fi
    "$RALPH" move "$T" "$to" --for review
    ;;
implement)
    mkdir -p src
    for member in $("$RALPH" group "$T" --json | tr '{,' '\n\n' | sed -n 's/^"task":"\([^"]*\)".*/\1/p'); do
        [ -e "src/$member.txt" ] || echo "$title" > "src/$member.txt"
    done
    [ -z "${RALPH_PLAN:-}" ] || sed -i 's/^- \[ \]/- [x]/' "$RALPH_PLAN"
    git add src
    git diff --cached --quiet || git commit -qm "feat: $title"
    # The prompt says how to finish.
    if "$RALPH" prompt implement "$T" | grep -q "^    ralph merge $T"; then
        "$RALPH" merge "$T"
    else
        "$RALPH" move "$T" __COMPLETE__ --for implement
    fi
    ;;
esac
