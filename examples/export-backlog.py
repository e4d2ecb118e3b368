#!/usr/bin/env python3
"""Write the tasks of a ralph board as Backlog.md files into a folder.

    ralph ls --all --json | python3 export-backlog.py backlog/tasks
"""
import json, pathlib, re, subprocess, sys

# States of the ralph workflow `lite` on the left, Backlog.md's statuses on the right.
STATUSES = {"In Progress": "In Progress", "In Review": "In Progress", "Done": "Done", "Canceled": "Done"}
PRIORITIES = {"P0": "high", "P1": "high", "P2": "medium", "P3": "low"}

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
tasks = json.load(sys.stdin)
numbers = {task["id"]: f"TASK-{n}" for n, task in enumerate(tasks, 1)}

for task in tasks:
    shown = subprocess.run(["ralph", "show", task["id"], "--json"], check=True, stdout=subprocess.PIPE).stdout
    head = {
        "id": numbers[task["id"]],
        "title": task["title"],
        "status": STATUSES.get(task["state"], "To Do"),
        "assignee": [f"@{task['owner']}"] if task["owner"] else [],
        "created_date": (task["created"] or "")[:16].replace("T", " "),
        "labels": task["labels"],
        "dependencies": [numbers[id] for id in task["blocked_by"] if id in numbers],
        "priority": PRIORITIES.get(task["priority"]),
    }
    # JSON is YAML, so that titles and labels need no quoting rules of their own.
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items() if value is not None]
    slug = re.sub(r"[^A-Za-z0-9]+", "-", task["title"]).strip("-")
    text = "\n".join(["---", *lines, "---", "", "## Description", "", json.loads(shown)["description"], ""])
    (folder / f"{head['id'].lower()} - {slug}.md").write_text(text, encoding="utf-8")
