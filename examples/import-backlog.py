#!/usr/bin/env python3
"""Print the tasks of a Backlog.md project as JSON lines, for `ralph task add --from -`.

    python3 import-backlog.py backlog/tasks/*.md | ralph task add --from -
"""
import json, re, sys

# Backlog.md's statuses on the left, states of the ralph workflow `lite` on the right.
STATES = {"To Do": "Backlog", "In Progress": "In Progress", "Done": "Done"}
PRIORITIES = {"high": "P1", "medium": "P2", "low": "P3"}

def unquoted(word):
    word = word.strip()
    return json.loads(word) if word.startswith('"') else word.strip("'").replace("''", "'")

def front_matter(text):
    """The keys of the front matter that are words or lists of words."""
    keys, key = {}, None
    for line in text.splitlines():
        if item := re.match(r"\s+- (.*)", line):
            keys[key] = (keys[key] or []) + [unquoted(item[1])]
        elif pair := re.match(r"(\w+):\s*(.*)", line):
            key, value = pair[1], pair[2].strip()
            inline = re.fullmatch(r"\[(.*)\]", value)
            keys[key] = [unquoted(word) for word in inline[1].split(",") if word.strip()] if inline else unquoted(value)
    return keys

for path in sys.argv[1:]:
    _, head, body = open(path, encoding="utf-8").read().split("---\n", 2)
    keys = front_matter(head)
    task = {
        "ref": keys["id"],
        "title": keys["title"],
        "description": re.sub(r"<!-- .* -->\n?|\A\s*## Description\n", "", body).strip(),
        "state": STATES.get(keys.get("status"), "Intake"),
        "priority": PRIORITIES.get(keys.get("priority")),
        "labels": keys.get("labels") or [],
        "owner": (keys.get("assignee") or [""])[0].lstrip("@") or None,
        "blocked_by": keys.get("dependencies") or [],
    }
    print(json.dumps({key: value for key, value in task.items() if value}))
