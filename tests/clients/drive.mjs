// Drives `ralph mcp` with the official clients for JavaScript: node drive.mjs RALPH BOARD v1-stdio|v2-stdio|v2-legacy|v1-http|v2-http

import assert from "node:assert/strict";
import * as v2 from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as schemas from "@modelcontextprotocol/sdk/types.js";
import { News, core, folder, ralphBinary, serve, tour } from "./board.mjs";

const ME = { name: "driver", version: "1" };

/** The calls that are the same in both libraries. */
function common(client, news) {
  return {
    news,
    listTools: () => client.listTools(),
    listResources: () => client.listResources(),
    listResourceTemplates: () => client.listResourceTemplates(),
    listPrompts: () => client.listPrompts(),
    readResource: (uri) => client.readResource({ uri }),
    getPrompt: (name, given) => client.getPrompt({ name, arguments: given }),
  };
}

/** Subscriptions before 2026. */
function following(client) {
  return async (uris) => {
    for (const uri of uris) await client.subscribeResource({ uri });
    return async () => {
      for (const uri of uris) await client.unsubscribeResource({ uri });
    };
  };
}

function sessionV1(client) {
  const news = new News();
  client.setNotificationHandler(schemas.ResourceUpdatedNotificationSchema, (told) => news.tell(told.params.uri));
  client.setNotificationHandler(schemas.ResourceListChangedNotificationSchema, () => news.tell("list"));
  const call = (name, given, options) => client.callTool({ name, arguments: given }, undefined, options);
  return { ...common(client, news), call, follow: following(client) };
}

function sessionV2(client, follow) {
  const news = new News();
  client.setNotificationHandler("notifications/resources/updated", (told) => news.tell(told.params.uri));
  client.setNotificationHandler("notifications/resources/list_changed", () => news.tell("list"));
  const call = (name, given, options) => client.callTool({ name, arguments: given }, options);
  return { ...common(client, news), call, follow };
}

/** Subscriptions of 2026: one stream, which is closed at the end. */
function listening(client) {
  return async (uris) => {
    const stream = await client.listen({ resourceSubscriptions: uris, resourcesListChanged: true });
    return async () => {
      await stream.close();
      assert.equal(await stream.closed, "local");
    };
  };
}

/** The library validates results against their schemas: a schema that does not fit must cause an error. */
async function validates(client) {
  const { tools } = await client.listTools();
  const wrong = { ...tools.find((tool) => tool.name === "status"), outputSchema: { type: "object", required: ["nonsense"] } };
  if (client instanceof ClientV1) {
    const other = new ClientV1(ME);
    other.cacheToolMetadata([wrong]);
    const check = other.getToolOutputValidator("status");
    assert.equal(check({}).valid, false);
    assert.equal(client.getToolOutputValidator("status")({ states: "none" }).valid, false);
    return;
  }
  await assert.rejects(client.callTool({ name: "status", arguments: {} }, { toolDefinition: wrong }), /nonsense|schema/i);
}

async function run(client, transport, session, walk, version) {
  await client.connect(transport);
  if (version) assert.equal(client.getNegotiatedProtocolVersion(), version);
  await validates(client);
  await walk(session);
  await client.close();
}

const stdio = { command: ralphBinary, args: ["mcp", "--as", "analyst"], cwd: folder, env: { ...process.env }, stderr: "inherit" };
const modern = () => new v2.Client(ME, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
const headers = (token) => ({ requestInit: { headers: { authorization: `Bearer ${token}`, "ralph-worker": "analyst" } } });

const ways = {
  async "v1-stdio"() {
    const client = new ClientV1(ME);
    await run(client, new StdioV1(stdio), sessionV1(client), tour);
  },
  async "v2-legacy"() {
    const client = new v2.Client(ME);
    await run(client, new StdioV2(stdio), sessionV2(client, following(client)), tour, "2025-11-25");
  },
  async "v2-stdio"() {
    const client = modern();
    await run(client, new StdioV2(stdio), sessionV2(client, listening(client)), tour, "2026-07-28");
  },
  async "v1-http"() {
    const server = await serve();
    const client = new ClientV1(ME);
    await run(client, new HttpV1(new URL(server.url), headers(server.token)), sessionV1(client), core);
    assert.equal(await server.end(), 0);
  },
  async "v2-http"() {
    const server = await serve();
    const client = modern();
    const transport = new v2.StreamableHTTPClientTransport(new URL(server.url), headers(server.token));
    await run(client, transport, sessionV2(client, listening(client)), core, "2026-07-28");
    assert.equal(await server.end(), 0);
  },
};

const way = process.argv[4];
if (!ways[way]) throw new Error(`there is no way ${way}: use ${Object.keys(ways).join(", ")}`);
await ways[way]();
console.log(`${way}: no problems`);
