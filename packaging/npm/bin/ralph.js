#!/usr/bin/env node
// Starts the program in @ralph-board/<platform>-<arch>, the optional dependency for this system.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const tty = require("node:tty");

const { optionalDependencies, version } = require("../package.json");

const system = `${process.platform}-${process.arch}`;
const platformPackage = `@ralph-board/${system}`;

// 127 is what shells return for a missing program; ralph itself never does.
function fail(...lines) {
  fs.writeSync(2, lines.map((line) => `${line}\n`).join(""));
  process.exit(127);
}

function findProgram() {
  if (!(platformPackage in optionalDependencies)) {
    fail(
      `error: ralph-board has no prebuilt program for ${system}`,
      "hint: build it from source with `cargo install ralph-board`",
    );
  }
  const name = process.platform === "win32" ? "ralph.exe" : "ralph";
  try {
    const program = path.join(path.dirname(require.resolve(`${platformPackage}/package.json`)), "bin", name);
    fs.accessSync(program, fs.constants.X_OK);
    return program;
  } catch (error) {
    return fail(
      `error: the program for ${system} is missing: ${error.code === "MODULE_NOT_FOUND" ? `package ${platformPackage} is not installed` : error.message}`,
      `hint: run \`npm install -g ralph-board@${version}\` without \`--omit=optional\` and \`--no-optional\``,
      "hint: in a project, delete node_modules and the lock file if they were made on another system, then install again",
    );
  }
}

// A terminal sends Ctrl-C to both processes; forwarding it would make ralph see it twice. On Windows, `kill` would end
// ralph at once, and the console notifies both processes anyway.
function mustForward(signal) {
  const fromKeyboard = signal === "SIGINT" || signal === "SIGQUIT";
  return process.platform !== "win32" && !(fromKeyboard && [0, 1, 2].some((fd) => tty.isatty(fd)));
}

function runAsChild(program, args) {
  const child = spawn(program, args, { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      if (mustForward(signal)) child.kill(signal);
    });
  }
  child.on("error", (error) => fail(`error: cannot start ${program}: ${error.message}`));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    // End by the same signal, so that a shell or an agent sees what happened. Node ignores some; they need the exit code.
    process.exitCode = 128 + os.constants.signals[signal];
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

const program = findProgram();
const args = process.argv.slice(2);
// Node 22.15 and later can replace this process; signals, job control and the process id are then ralph's own.
if (process.execve && process.platform !== "win32") {
  process.execve(program, [program, ...args], process.env);
} else {
  runAsChild(program, args);
}
