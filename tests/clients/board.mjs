// Shared by the drivers: the program, its board, and the tour through its features.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [ralphBinary, folder] = process.argv.slice(2);
export { ralphBinary, folder };

export const TOOLS = [
  "next", "claim", "release", "get", "list", "save", "create", "note", "relate", "split", "artifact", "status",
];

/** Runs `ralph` as another process while the server runs. */
export function ralph(...args) {
  return execFileSync(ralphBinary, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** A server on its own port: its URL, its token, and a function that ends it. */
export async function serve() {
  const child = spawn(ralphBinary, ["mcp", "--http", "127.0.0.1:0"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const place = {};
  for await (const line of createInterface({ input: child.stderr })) {
    place.url ??= line.match(/http:\S+/)?.[0];
    place.token ??= line.match(/Bearer (\w+)/)?.[1];
    if (place.url && place.token) break;
  }
  place.end = () => new Promise((done) => { child.once("exit", (code) => done(code)); child.kill("SIGINT"); });
  return place;
}

/** Fails after a timeout instead of hanging. */
export function within(promise, what, seconds = 30) {
  const late = new Promise((_, fail) => setTimeout(() => fail(new Error(`timed out: ${what}`)), seconds * 1000).unref());
  return Promise.race([promise, late]);
}

/** The resources that were reported as changed; waits for later ones. */
export class News {
  heard = [];
  waiting = [];

  tell(uri) {
    this.heard.push(uri);
    this.waiting.forEach((look) => look());
  }

  async of(uri) {
    await within(new Promise((found) => {
      const look = () => this.heard.includes(uri) && found();
      this.waiting.push(look);
      look();
    }), uri);
    this.heard = this.heard.filter((other) => other !== uri);
  }
}

/** Uses every feature once with a connected client. `session` has the same calls for each library. */
export async function tour(session) {
  await lists(session);
  await cancel(session);
  const [first, large, other] = await create(session);
  await work(session, first);
  await rest(session, large, other);
  await refusals(session, other);
  await resources(session, first);
  await prompts(session, large);
  await news(session, first, large);
}

/** The part that also runs over the other transports. */
export async function core(session) {
  await lists(session);
  await cancel(session);
  const [first, large] = await create(session);
  await refusals(session, first);
  await news(session, first, large);
}

async function lists(session) {
  const { tools } = await session.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), TOOLS);
  assert.ok(tools.every((tool) => tool.outputSchema?.type === "object"));
  const { resources } = await session.listResources();
  assert.ok(resources.some((resource) => resource.uri === "ralph://board"));
  const { resourceTemplates } = await session.listResourceTemplates();
  assert.deepEqual(resourceTemplates.map((found) => found.uriTemplate), ["ralph://task/{id}", "ralph://artifact/{+path}"]);
  const { prompts } = await session.listPrompts();
  assert.equal(prompts.length, 8);
}

async function ok(session, name, args, options) {
  const result = await session.call(name, args, options);
  assert.ok(!result.isError, `${name}: ${JSON.stringify(result.structuredContent)}`);
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
}

/** On an empty board `next` waits. After a cancellation it claims no later task, and the server keeps running. */
async function cancel(session) {
  const stop = new AbortController();
  const waiting = ok(session, "next", { role: "analyst", wait: 60 }, { signal: stop.signal });
  await ok(session, "status", {});
  stop.abort("enough");
  await assert.rejects(within(waiting, "the end of what was called off"));
  const start = Date.now();
  await ok(session, "status", {});
  assert.ok(Date.now() - start < 5000);
  const made = JSON.parse(ralph("task", "add", "Too late", "--json")).tasks[0].id;
  assert.equal(JSON.parse(ralph("next", "--role", "analyst", "--claim", "--as", "analyst-2", "--json")).task, made);
  ralph("cancel", made, "--force", "--as", "ada");
  assert.deepEqual((await ok(session, "status", {})).claims, []);
}

async function create(session) {
  const { tasks } = await ok(session, "create", { tasks: [
    { title: "First", priority: "P0", estimate: "S" },
    { title: "Large", estimate: "L" },
    { title: "Other", ref: "o" },
  ] });
  return tasks.map((task) => task.id);
}

async function work(session, first) {
  assert.equal((await ok(session, "next", { role: "analyst" })).command, "triage");
  await ok(session, "save", { task: first, command: "triage", state: "Research Needed" });
  const next = await ok(session, "next", { role: "analyst" });
  assert.deepEqual([next.found, next.command, next.task.id], [true, "research", first]);
  const made = await ok(session, "artifact", { task: first, kind: "research", action: "new" });
  const read = await ok(session, "artifact", { task: first, kind: "research", action: "read" });
  const text = read.text.replace(/`TO BE WRITTEN.*/g, "`src/a.rs`: it").replace(/TO BE WRITTEN.*/g, "done");
  await ok(session, "artifact", { task: first, kind: "research", action: "write", text, version: read.version });
  assert.deepEqual((await ok(session, "artifact", { task: first, kind: "research", action: "check" })).findings, []);
  const linked = await ok(session, "artifact", { task: first, kind: "research", action: "link" });
  assert.deepEqual([linked.path, linked.linked], [made.path, true]);
  await ok(session, "note", { task: first, text: "It is small." });
  const saved = await ok(session, "save", { task: first, command: "research", state: "__COMPLETE__", note: "Found." });
  assert.equal(saved.state, "Ready for Plan");
  const got = await ok(session, "get", { task: first });
  assert.deepEqual([got.state, got.notes.length, got.artifacts.research], ["Ready for Plan", 2, made.path]);
}

async function rest(session, large, other) {
  await ok(session, "relate", { task: other, add_blocked_by: [large] });
  assert.deepEqual((await ok(session, "relate", { task: other, remove_blocked_by: [large] })).blocked ?? false, false);
  assert.equal((await ok(session, "claim", { task: other, command: "triage" })).task, other);
  await ok(session, "release", { task: other });
  const { children } = await ok(session, "split", { task: large, into: [
    { title: "Half", estimate: "S", ref: "half" },
    { title: "Rest", estimate: "S", blocked_by: ["half"] },
  ] });
  assert.equal(children.length, 2);
  assert.equal((await ok(session, "list", { parent: large })).total, 2);
  assert.equal((await ok(session, "status", {})).states["Ready for Plan"], 1);
}

async function refusals(session, task) {
  ralph("claim", task, "--as", "analyst-3", "--force");
  const held = await session.call("claim", { task, command: "triage" });
  const { error } = held.structuredContent;
  assert.deepEqual([held.isError, error.code, typeof error.message], [true, "held", "string"]);
  assert.ok(error.hints.length > 0, JSON.stringify(error));
  ralph("release", task, "--as", "analyst-3");
  const nowhere = await session.call("save", { task, command: "triage", state: "Nowhere" });
  assert.equal(nowhere.isError, true);
  await assert.rejects(session.call("no-such-tool", {}), /unknown tool/);
  await assert.rejects(session.readResource("ralph://task/t-none"), /t-none/);
}

async function resources(session, first) {
  const read = async (uri) => (await session.readResource(uri)).contents[0].text;
  assert.ok(JSON.parse(await read("ralph://board")).status);
  assert.ok(JSON.parse(await read("ralph://workflow")).states);
  const task = JSON.parse(await read(`ralph://task/${first}`));
  assert.equal(task.id, first);
  assert.match(await read(`ralph://artifact/${task.artifacts.research}`), /^---/);
}

async function prompts(session, task) {
  const { messages } = await session.getPrompt("triage", { task });
  assert.ok(messages[0].content.text.includes(task));
  await assert.rejects(session.getPrompt("triage", {}));
}

async function news(session, first, large) {
  const task = (id) => `ralph://task/${id}`;
  const stop = await session.follow([task(first), "ralph://board"]);
  ralph("task", "set", first, "priority=P1");
  await session.news.of(task(first));
  await session.news.of("ralph://board");
  await stop();
  const end = await session.follow([task(large)]);
  session.news.heard = [];
  ralph("task", "set", first, "priority=P2");
  ralph("task", "set", large, "priority=P2");
  await session.news.of(task(large));
  assert.ok(!session.news.heard.includes(task(first)), "it was called off");
  ralph("task", "add", "New");
  await session.news.of("list");
  await end();
}
