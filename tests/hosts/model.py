#!/usr/bin/env python3
"""A model that plays a scenario, behind the wire protocols of the agent programs.

    model.py SCENARIO PORT-FILE LOG

Listens on a free port of loopback and writes its number to PORT-FILE. A scenario (see play.py) is a generator: it yields what the
model says or which tool it calls, and receives what the tool answered. It is played from the beginning for every request, with
the answers that the request brings along, so that nothing is kept between requests and sessions cannot mix.
"""
import json
import sys
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import play


class Turn:
    """One request in a common form: the first prompt, the names of the tools, and the answers to each call so far."""

    def __init__(self, host, prompt, tools, answers):
        self.host, self.prompt, self.tools, self.answers = host, prompt, tools, answers


def plain(content):
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return content.get("text") or json.dumps(content)
    return "\n".join(plain(part) for part in content or [])


# --- requests of each protocol --------------------------------------------------------------------------------------

def read_anthropic(body):
    prompt, answers = [], []
    for message in body["messages"]:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if message["role"] == "assistant":
            answers.append("")
        for part in parts if message["role"] == "user" else []:
            if part["type"] == "tool_result":
                answers[-1] += plain(part.get("content"))
            elif part["type"] == "text" and not answers:
                prompt.append(part["text"])
    names = [tool["name"] for tool in body.get("tools", []) if "name" in tool]
    return Turn("opencode" if "bash" in names else "claude", "\n".join(prompt), names, answers)


def read_responses(body):
    prompt, answers, speaking = [], [], False
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind.endswith("_call") or kind == "reasoning" or (kind == "message" and item.get("role") == "assistant"):
            if not speaking:
                answers.append("")
            speaking = True
        elif kind.endswith("_call_output"):
            speaking = False
            answers[-1] += plain(item.get("output"))
        elif kind == "message":
            speaking = False
            if not answers:
                prompt.append(plain(item["content"]))
    return Turn("codex", "\n".join(prompt), [tool.get("name", "") for tool in body.get("tools", [])], answers)


def read_gemini(body):
    prompt, answers = [], []
    for content in body["contents"]:
        if content.get("role") == "model":
            answers.append("")
            continue
        for part in content["parts"]:
            if "functionResponse" in part:
                answers[-1] += json.dumps(part["functionResponse"].get("response"))
            elif "text" in part and not answers:
                prompt.append(part["text"])
    names = [spec["name"] for tool in body.get("tools", []) for spec in tool.get("functionDeclarations", [])]
    return Turn("gemini", "\n".join(prompt), names, answers)


# --- answers of each protocol --------------------------------------------------------------------------------------

SHELL = {"claude": "Bash", "opencode": "bash", "gemini": "run_shell_command", "codex": "exec_command"}


def call_of(host, said):
    """The tool call of a host for a step."""
    if isinstance(said, play.SubAgent):
        return "Agent", {"subagent_type": said.kind, "prompt": said.prompt, "description": "a sub-agent"}
    if isinstance(said, play.Tool):
        return said.name, said.input
    if host == "codex":
        return SHELL[host], {"cmd": said.command, "yield_time_ms": 20000}
    return SHELL[host], {"command": said.command, "description": "a step"}


def identifier(kind):
    return f"{kind}_{uuid.uuid4().hex[:20]}"


def events_anthropic(host, said, model):
    usage = {"input_tokens": 10, "output_tokens": 5}
    yield "message_start", {"message": {"id": identifier("msg"), "type": "message", "role": "assistant", "model": model, "content": [],
                                        "stop_reason": None, "stop_sequence": None, "usage": usage}}
    reason = "end_turn" if isinstance(said, str) else "tool_use"
    for index, step in enumerate(said if isinstance(said, list) else [said]):
        if isinstance(step, str):
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": step}
        else:
            name, arguments = call_of(host, step)
            block = {"type": "tool_use", "id": identifier("toolu"), "name": name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        yield "content_block_start", {"index": index, "content_block": block}
        yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    yield "message_delta", {"delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 5}}
    yield "message_stop", {}


def events_responses(host, said, model):
    response = {"id": identifier("resp"), "object": "response", "model": model, "status": "in_progress", "output": []}
    yield "response.created", {"response": response}
    if isinstance(said, str):
        item = {"type": "message", "id": identifier("msg"), "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": said, "annotations": []}]}
    else:
        name, arguments = call_of(host, said)
        item = {"type": "function_call", "id": identifier("fc"), "call_id": identifier("call"), "name": name, "arguments": json.dumps(arguments)}
    yield "response.output_item.added", {"output_index": 0, "item": item}
    yield "response.output_item.done", {"output_index": 0, "item": item}
    usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15}
    yield "response.completed", {"response": {**response, "status": "completed", "output": [item], "usage": usage}}


def whole_gemini(host, said):
    if isinstance(said, str):
        part = {"text": said}
    else:
        name, arguments = call_of(host, said)
        part = {"functionCall": {"name": name, "args": arguments}}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    return {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}], "usageMetadata": usage}


def said_in(turn):
    """The next output of the model."""
    if not turn.answers:
        FRESH.append(turn)
    turn.fresh = len(FRESH)
    scenario = SCENARIO(turn)
    try:
        said = next(scenario)
        for answer in turn.answers:
            said = scenario.send(answer)
    except StopIteration as end:
        said = end.value or "Done."
    with open(sys.argv[3], "a") as log:
        last = turn.answers[-1] if turn.answers else None
        log.write(json.dumps({"host": turn.host, "answer": last, "said": str(said)}) + "\n")
    return said


def aside(turn):
    """A request for the host's own use. Some hosts count its tokens, some do not."""
    with open(sys.argv[3], "a") as log:
        log.write(json.dumps({"host": turn.host, "aside": True}) + "\n")
    return json.dumps({"title": "A title", "complexity_reasoning": "simple", "complexity_score": 50})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, code, value, headers=()):
        data = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, text in headers:
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            if isinstance(event, tuple):
                name, data = event
                self.wfile.write(f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode())
            else:
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.close_connection = True

    def do_HEAD(self):
        self.reply(200, {})

    def do_GET(self):
        self.reply(200, {"data": [], "models": []})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        path = self.path.split("?")[0]
        model = body.get("model", "scripted")
        if path.endswith("count_tokens"):
            return self.reply(200, {"input_tokens": 10})
        FIRST.append(time.time())
        until = int(FIRST[0]) + 2
        if SCENARIO.__name__ == "limited" and time.time() < until and not path.endswith("/messages"):
            return self.reply(429, {"error": {"type": "usage_limit_reached", "message": "limit", "plan_type": "plus", "resets_at": until}})
        readers = {"/messages": read_anthropic, "/responses": read_responses}
        reader = next((reader for end, reader in readers.items() if path.endswith(end)), read_gemini if "enerateContent" in path else None)
        if reader is None:
            return self.reply(200, {})
        turn = reader(body)
        # Titles and difficulty are requested without tools, and as JSON.
        said = said_in(turn) if turn.tools else aside(turn)
        if reader is read_anthropic:
            if not body.get("stream"):
                content = [{"type": "text", "text": said if isinstance(said, str) else "…"}]
                return self.reply(200, {"id": identifier("msg"), "type": "message", "role": "assistant", "model": model, "content": content,
                                        "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}})
            return self.stream(events_anthropic(turn.host, said, model))
        if reader is read_responses:
            return self.stream(events_responses(turn.host, said, model))
        answer = whole_gemini(turn.host, said)
        return self.stream([answer]) if "stream" in path else self.reply(200, answer)


FIRST = []
# Requests that start a session.
FRESH = []
SCENARIO = getattr(play, sys.argv[1])
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(sys.argv[2], "w") as file:
    file.write(f"{server.server_address[1]}\n")
server.serve_forever()
