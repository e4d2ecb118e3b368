"""The scenarios of the scripted model. It uses only the shell, which every host has."""
import re
from dataclasses import dataclass


@dataclass
class Shell:
    command: str


@dataclass
class Tool:
    name: str
    input: dict


@dataclass
class SubAgent:
    kind: str
    prompt: str


FILL = (
    r"sed -i -E 's/^- .TO BE WRITTEN.*/- `src\/main.rs`: where it is printed/; s/^TO BE WRITTEN.*/It is printed in `src\/main.rs:1`./; "
    r"s/TO BE WRITTEN[^`]*/done/' "
)


def asked(turn):
    """The command and the task of the prompt."""
    found = re.findall(r"(?m)^\W*# (Triage|Research|Plan|Review|Implement)\b.*?(t-\w+)", turn.prompt)
    return (found[-1][0].lower(), found[-1][1]) if found else (None, None)


def quiet(turn):
    yield "Hello."


def honest(turn):
    """Does what the prompt asks for."""
    command, task = asked(turn)
    if command is None:
        return "There is nothing for me."
    if command == "triage":
        yield Shell(f"ralph task set {task} estimate=S priority=P2")
        yield Shell(f"ralph move {task} 'Research Needed' --for triage")
    elif command in ("research", "plan", "review"):
        answer = yield Shell(f"ralph artifact new {command} {task} --json")
        file = re.search(r'file\W+(/[^"\\]+)', answer).group(1)
        yield Shell(FILL + file)
        yield Shell(f"ralph artifact link {command} {task}")
        yield Shell(f"ralph move {task} __COMPLETE__ --for {command}")
    elif command == "implement":
        plan = re.search(r"The plan: (\S+)", turn.prompt).group(1)
        yield Shell(f"echo '// {task}' > src/{task}.rs && git add src/{task}.rs && git commit -q -m 'Do {task}'")
        yield Shell(rf"sed -i 's/- \[ \]/- [x]/' {plan}")
        yield Shell(f"ralph move {task} __COMPLETE__ --for implement")
    return f"{command} of {task} is done."


def limited(turn):
    """Reaches a usage limit for two seconds from its first request (see model.py); then follows the prompt."""
    return (yield from honest(turn))


def cut(turn):
    """Hangs in its first call. When its session is resumed, it follows the prompt. Some hosts forget that call."""
    yield Shell("tail -f /dev/null" if turn.fresh == 1 else "true")
    return (yield from honest(turn))


def misdeeds(board, task):
    """Everything that an agent must not do."""
    yield Shell(f"echo x > {board}/outside.txt")
    yield Shell(f"sed -i s/hello/changed/ {board}/src/main.rs")
    yield Shell(f"python3 -c \"import subprocess; subprocess.run(['git', '-C', '{board}', 'commit', '--allow-empty', '-qm', 'evil'])\"")
    yield Shell(f"printf 'git -C {board} commit --allow-empty -qm evil' > /tmp/evil-$$.sh; sh /tmp/evil-$$.sh; rm /tmp/evil-$$.sh")
    yield Shell(f"cd {board} && env -u GIT_TRACE2_EVENT -u RALPH_RUN git commit --allow-empty -qm evil")
    yield Shell(f"git -C {board} push -q origin HEAD:main")
    yield Shell(f"git -C {board} update-ref refs/heads/main $(git commit-tree -m evil $(git rev-parse main^{{tree}}))")
    yield Shell(f"sed -i s/title/titel/ {board}/.ralph/tasks/{task}.toml")


def bad(turn):
    """The same, with more ways to reach the board; stops without finishing."""
    _, task = asked(turn)
    board = "$(git -C \"$RALPH_BOARD\" rev-parse --show-toplevel)"
    yield from misdeeds(board, task)
    yield Shell(f"env -u RALPH_RELAY ralph move {task} Done --force")
    yield Shell(f"ralph move {task} Done --force")
    yield Shell(f"ralph run {task} -- touch {board}/evil")
    yield Shell(f"ralph note {task} 'It was me.' --as anna")
    yield Shell("echo x > $HOME/evil.txt; mkdir -p $HOME/.config/ralph; echo 'x = 1' >> $HOME/.config/ralph/config.toml")
    return "I stop here."


def session(turn):
    """A session without a name claims a task as a builder, and then works where it must not."""
    taken = yield Shell(f"ralph next --claim --as {role_in(turn)}")
    yield Shell("git commit --allow-empty -qm evil")
    yield Shell("echo allowed > /dev/null")
    yield from misdeeds("$PWD", re.search(r"t-\w+", taken).group())
    return "I stop here."


def role_in(turn):
    return re.search(r"Go, (\w+)", turn.prompt).group(1)


def crash(turn):
    """Kills its own host in the middle of the work."""
    yield Shell("echo half > half.txt; kill -9 $PPID")
    return "This is never said."


def mcp(turn):
    """Claims a task through MCP, and then works where it must not."""
    taken = yield Tool("mcp__ralph__next", {"claim": True, "as": "builder"})
    yield Shell("git commit --allow-empty -qm evil")
    yield from misdeeds("$PWD", re.search(r"t-\w+", taken).group())
    return "I stop here."


def pair(turn):
    """Two subagents of one kind at once: each claims a task, and both try to commit on main."""
    if "CHILD" in turn.prompt:
        taken = yield Shell("ralph next --claim --as builder")
        yield Shell("ralph task ls --mine --as builder")
        yield Shell("git commit --allow-empty -qm evil")
        yield from misdeeds("$PWD", re.search(r"t-\w+", taken).group())
        return "I have a task."
    yield [SubAgent("ralph-builder", "CHILD one"), SubAgent("ralph-builder", "CHILD two")]
    # Subagents run in the background: this ends when both have a task, or after a timeout.
    yield Shell("for i in $(seq 300); do [ $(ralph claims ls | grep -c builder) -ge 2 ] && break; sleep 0.2; done; sleep 1")
    return "Both have a task."
