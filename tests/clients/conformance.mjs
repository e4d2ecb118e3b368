// Runs the published conformance suite against `ralph mcp --http`: node conformance.mjs RALPH BOARD

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ralph, serve } from "./board.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The scenarios that every server must pass. */
const APPLIES = {
  "2025-11-25": [
    "server-initialize", "server-session-lifecycle", "ping", "completion-complete", "tools-list", "server-sse-polling",
    "server-sse-multiple-streams", "resources-list", "prompts-list", "dns-rebinding-protection",
  ],
  "2026-07-28": [
    "server-stateless", "completion-complete", "tools-list", "server-sse-multiple-streams", "resources-list",
    "sep-2164-resource-not-found", "prompts-list", "dns-rebinding-protection", "caching", "http-header-validation",
  ],
};

/** The other scenarios need the tools, resources and prompts of the suite's own reference server. */
const FIXTURES = [
  [/^tools-call-|^json-schema-|^elicitation-|^input-required-result-/, "tools such as test_simple_text"],
  [/^resources-(read|templates|subscribe|unsubscribe)/, "resources such as test://static-text"],
  [/^prompts-get-/, "prompts such as test_simple_prompt"],
  [/^http-custom-header-/, "a tool with an x-mcp-header"],
  [/^logging-/, "the capability to log, which ralph does not claim"],
];

/** A proxy that adds the token, which the suite does not send. */
async function doorman(server) {
  const { hostname, port } = new URL(server.url);
  const own = { authorization: `Bearer ${server.token}`, "ralph-worker": "analyst" };
  const proxy = http.createServer((request, response) => {
    const { url: path, method, headers } = request;
    const passed = http.request({ hostname, port, path, method, headers: { ...headers, ...own } }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    request.pipe(passed);
  });
  await new Promise((ready) => proxy.listen(0, "127.0.0.1", ready));
  return proxy;
}

/** The results of the suite, by scenario. */
async function run(version, url) {
  const out = mkdtempSync(join(tmpdir(), "conformance-"));
  const suite = here("node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const args = ["server", "--url", url, "--suite", "all", "--spec-version", version, "-o", out];
  // The suite exits with an error because of the scenarios that do not apply.
  await promisify(execFile)(process.execPath, ["--import", here("old-node.mjs"), suite, ...args]).catch(() => {});
  const found = {};
  for (const folder of readdirSync(out)) {
    const name = folder.match(/^server-(.*)-\d{4}-\d\d-\d\dT.*$/)[1];
    found[name] = JSON.parse(readFileSync(join(out, folder, "checks.json"), "utf8"));
  }
  rmSync(out, { recursive: true });
  return found;
}

function judge(version, found) {
  const wrong = [];
  for (const name of APPLIES[version]) {
    const checks = found[name] ?? [];
    // Checks that need a tool of the reference server are marked as untestable.
    const failed = checks.filter((check) => check.status === "FAILURE" && !check.details?.untestable);
    wrong.push(...failed.map((check) => `${version} ${name} ${check.id}: ${check.errorMessage}`));
    if (!checks.some((check) => check.status === "SUCCESS")) wrong.push(`${version} ${name}: nothing was checked`);
  }
  const known = (name) => APPLIES[version].includes(name) || FIXTURES.some(([pattern]) => pattern.test(name));
  wrong.push(...Object.keys(found).filter((name) => !known(name)).map((name) => `${version} ${name}: does it apply?`));
  return wrong;
}

ralph("task", "add", "One");
const server = await serve();
const proxy = await doorman(server);
const url = `http://127.0.0.1:${proxy.address().port}/mcp`;
const versions = Object.keys(APPLIES);
const results = await Promise.all(versions.map((version) => run(version, url)));
const wrong = versions.flatMap((version, at) => judge(version, results[at]));
proxy.closeAllConnections();
proxy.close();
assert.equal(await server.end(), 0);
assert.deepEqual(wrong, []);
console.log("conformance: no problems");
