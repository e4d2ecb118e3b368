#!/usr/bin/env python3
"""An agent in 20 lines of Python, for a board with the workflow `lite`. It asks a person once, then does the work.

    ralph team --ready -- /path/to/agent.py '{prompt_file}'
"""
import json, os, subprocess, sys

task, command = os.environ["RALPH_TASK"], os.environ["RALPH_COMMAND"]

def run(*args):
    return subprocess.run(args, check=True, stdout=subprocess.PIPE, text=True).stdout

if command == "triage":
    run("ralph", "task", "set", task, "estimate=XS", "priority=P2")
    run("ralph", "move", task, "Backlog", "--for", command)
elif command == "implement":
    answers = [note for note in json.loads(run("ralph", "show", task, "--json"))["notes"] if note.get("kind") == "answer"]
    if not answers:
        run("ralph", "ask", task, "Which language?", "--option", "English", "--option", "French", "--for", command)
        sys.exit()  # the task now waits for a person; the answer is in the next prompt
    # The work. The prompt is in the file sys.argv[1]; give it to your model instead.
    with open(f"{task}.txt", "w") as file:
        file.write(answers[-1]["text"] + "\n")
    run("git", "add", f"{task}.txt")
    run("git", "commit", "--quiet", "--message", f"Write the greeting ({task})")
    run("ralph", "move", task, "__COMPLETE__", "--for", command)
