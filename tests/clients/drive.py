"""Drives `ralph mcp` with the official client for Python: drive.py RALPH BOARD stdio|stdio-2026|http|http-2026"""

import asyncio
import json
import re
import subprocess
import sys
import time
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import httpx2
import jsonschema
import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

RALPH, FOLDER, WAY = sys.argv[1:4]
TOOLS = ["next", "claim", "release", "get", "list", "save", "create", "note", "relate", "split", "artifact", "status"]
ME = types.Implementation(name="driver", version="1")


def ralph(*args):
    """Runs `ralph` as another process while the server runs."""
    return subprocess.run([RALPH, *args], cwd=FOLDER, check=True, capture_output=True, text=True).stdout


def told(event):
    """The resource that a notification, or an event of a stream, is about."""
    if isinstance(event, types.ResourceUpdatedNotification):
        return str(event.params.uri)
    if isinstance(event, types.ResourceListChangedNotification):
        return "list"
    kind = type(event).__name__
    return str(event.uri) if kind == "ResourceUpdated" else "list" if kind == "ResourcesListChanged" else None


class Session:
    """A connected client, and the resources that were reported to it."""

    def __init__(self, client, modern):
        self.client, self.modern = client, modern
        self.heard, self.came, self.schemas = [], asyncio.Condition(), {}

    async def hear(self, message):
        if uri := told(message):
            async with self.came:
                self.heard.append(uri)
                self.came.notify_all()

    async def hears_of(self, uri):
        with anyio.fail_after(30):
            async with self.came:
                await self.came.wait_for(lambda: uri in self.heard)
                self.heard = [other for other in self.heard if other != uri]

    async def call(self, name, **given):
        given = {key.rstrip("_"): value for key, value in given.items()}
        return await self.client.call_tool(name, given)

    async def ok(self, name, **given):
        result = await self.call(name, **given)
        assert not result.is_error, (name, result.structured_content)
        assert json.loads(result.content[0].text) == result.structured_content
        jsonschema.validate(result.structured_content, self.schemas[name])
        return result.structured_content

    @asynccontextmanager
    async def follows(self, *uris):
        """Subscribes as the protocol version does: with a stream, or with subscriptions that are ended again."""
        if not self.modern:
            for uri in uris:
                await self.client.subscribe_resource(uri)
            yield
            for uri in uris:
                await self.client.unsubscribe_resource(uri)
            return
        async with self.client.listen(resource_subscriptions=uris, resources_list_changed=True) as stream:
            async with anyio.create_task_group() as group:
                group.start_soon(self.read, stream)
                yield
                group.cancel_scope.cancel()

    async def read(self, stream):
        async for event in stream:
            await self.hear(event)


async def lists(session):
    tools = (await session.client.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS
    session.schemas = {tool.name: tool.output_schema for tool in tools}
    assert all(schema["type"] == "object" for schema in session.schemas.values())
    uris = [str(resource.uri) for resource in (await session.client.list_resources()).resources]
    assert "ralph://board" in uris
    templates = (await session.client.list_resource_templates()).resource_templates
    assert [found.uri_template for found in templates] == ["ralph://task/{id}", "ralph://artifact/{+path}"]
    assert len((await session.client.list_prompts()).prompts) == 8


async def validates(session):
    """The library validates results against their schemas: a result that does not fit must cause an error."""
    inner = session.client.session
    assert set(inner._tool_output_schemas) == set(TOOLS)
    result = await session.call("status")
    wrong = result.model_copy(update={"structured_content": {"states": "none"}})
    try:
        await inner.validate_tool_result("status", wrong)
    except RuntimeError:
        return
    raise AssertionError("a result that does not fit its schema was taken")


async def cancel(session):
    """On an empty board `next` waits. After a cancellation it claims no later task, and the server keeps running."""
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: session.call("next", role="analyst", wait=60))
        await session.ok("status")
        group.cancel_scope.cancel()
    start = time.monotonic()
    await session.ok("status")
    assert time.monotonic() - start < 5
    made = json.loads(ralph("task", "add", "Too late", "--json"))["tasks"][0]["id"]
    taken = json.loads(ralph("next", "--role", "analyst", "--claim", "--as", "analyst-2", "--json"))
    assert taken["task"] == made
    ralph("cancel", made, "--force", "--as", "ada")
    assert (await session.ok("status"))["claims"] == []


async def create(session):
    wanted = [{"title": "First", "priority": "P0", "estimate": "S"}, {"title": "Large", "estimate": "L"}, {"title": "Other"}]
    return [task["id"] for task in (await session.ok("create", tasks=wanted))["tasks"]]


async def work(session, first):
    assert (await session.ok("next", role="analyst"))["command"] == "triage"
    await session.ok("save", task=first, command="triage", state="Research Needed")
    chosen = await session.ok("next", role="analyst")
    assert (chosen["found"], chosen["command"], chosen["task"]["id"]) == (True, "research", first)
    document = {"task": first, "kind": "research"}
    made = await session.ok("artifact", action="new", **document)
    read = await session.ok("artifact", action="read", **document)
    text = re.sub("TO BE WRITTEN.*", "done", re.sub("`TO BE WRITTEN.*", "`src/a.rs`: it", read["text"]))
    await session.ok("artifact", action="write", text=text, version=read["version"], **document)
    assert (await session.ok("artifact", action="check", **document))["findings"] == []
    assert (await session.ok("artifact", action="link", **document))["linked"] is True
    await session.ok("note", task=first, text="It is small.")
    saved = await session.ok("save", task=first, command="research", state="__COMPLETE__", note="Found.")
    assert saved["state"] == "Ready for Plan"
    got = await session.ok("get", task=first)
    assert (got["state"], len(got["notes"]), got["artifacts"]["research"]) == ("Ready for Plan", 2, made["path"])


async def rest(session, large, other):
    await session.ok("relate", task=other, add_blocked_by=[large])
    assert not (await session.ok("relate", task=other, remove_blocked_by=[large])).get("blocked")
    assert (await session.ok("claim", task=other, command="triage"))["task"] == other
    await session.ok("release", task=other)
    parts = [{"title": "Half", "estimate": "S", "ref": "half"}, {"title": "Rest", "estimate": "S", "blocked_by": ["half"]}]
    assert len((await session.ok("split", task=large, into=parts))["children"]) == 2
    assert (await session.ok("list", parent=large))["total"] == 2
    assert (await session.ok("status"))["states"]["Ready for Plan"] == 1


async def fails(call, word):
    try:
        await call
    except MCPError as error:
        assert word in str(error), error
        return
    raise AssertionError(f"{word}: it did not fail")


async def refusals(session, task):
    ralph("claim", task, "--as", "analyst-3", "--force")
    held = await session.call("claim", task=task, command="triage")
    error = held.structured_content["error"]
    assert held.is_error and error["code"] == "held" and error["message"] and error["hints"], error
    ralph("release", task, "--as", "analyst-3")
    assert (await session.call("save", task=task, command="triage", state="Nowhere")).is_error
    await fails(session.call("no-such-tool"), "unknown tool")
    await fails(session.client.read_resource("ralph://task/t-none"), "t-none")


async def resources(session, first):
    async def read(uri):
        return (await session.client.read_resource(uri)).contents[0].text

    assert json.loads(await read("ralph://board"))["status"]
    assert json.loads(await read("ralph://workflow"))["states"]
    task = json.loads(await read(f"ralph://task/{first}"))
    assert task["id"] == first
    assert (await read(f"ralph://artifact/{task['artifacts']['research']}")).startswith("---")


async def prompts(session, task):
    told = await session.client.get_prompt("triage", {"task": task})
    assert task in told.messages[0].content.text
    await fails(session.client.get_prompt("triage", {}), "task")


async def news(session, first, large):
    async with session.follows(f"ralph://task/{first}", "ralph://board"):
        ralph("task", "set", first, "priority=P1")
        await session.hears_of(f"ralph://task/{first}")
        await session.hears_of("ralph://board")
    async with session.follows(f"ralph://task/{large}"):
        session.heard = []
        ralph("task", "set", first, "priority=P2")
        ralph("task", "set", large, "priority=P2")
        await session.hears_of(f"ralph://task/{large}")
        assert f"ralph://task/{first}" not in session.heard, "it was called off"
        ralph("task", "add", "New")
        await session.hears_of("list")


async def walk(session, whole):
    await lists(session)
    await validates(session)
    await cancel(session)
    first, large, other = await create(session)
    if whole:
        await work(session, first)
        await rest(session, large, other)
        await resources(session, first)
        await prompts(session, large)
    await refusals(session, other)
    await news(session, first, large)


@asynccontextmanager
async def served():
    """A server on its own port."""
    child = subprocess.Popen([RALPH, "mcp", "--http", "127.0.0.1:0"], cwd=FOLDER, stderr=subprocess.PIPE, text=True)
    url = re.search(r"http:\S+", child.stderr.readline())[0]
    token = re.search(r"Bearer (\w+)", child.stderr.readline())[1]
    headers = {"authorization": f"Bearer {token}", "ralph-worker": "analyst"}
    async with httpx2.AsyncClient(headers=headers, timeout=90) as http:
        yield streamable_http_client(url, http_client=http)
    child.send_signal(2)
    assert child.wait(30) == 0


async def main():
    over, modern = WAY.split("-")[0], WAY.endswith("-2026")
    async with AsyncExitStack() as stack:
        server = StdioServerParameters(command=RALPH, args=["mcp", "--as", "analyst"], cwd=FOLDER)
        if over == "http":
            server = await stack.enter_async_context(served())
        heard = []

        async def hear(message):
            if heard and not modern:
                await heard[0].hear(message)

        # With `auto` the library asks the server, and falls back to the old protocol if it must.
        mode = "auto" if modern else "legacy"
        client = await stack.enter_async_context(Client(server, mode=mode, client_info=ME, message_handler=hear))
        assert client.protocol_version == ("2026-07-28" if modern else "2025-11-25")
        session = Session(client, modern)
        heard.append(session)
        await walk(session, whole=over == "stdio")
    print(f"{WAY}: no problems")


asyncio.run(main())
