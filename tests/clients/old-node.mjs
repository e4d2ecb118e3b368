// The conformance suite imports `globSync` from `fs`, which Node has since version 22, and does not call it here.

import { register } from "node:module";

const source = 'import fs from "node:fs"; export * from "node:fs"; export default fs; export const globSync = fs.globSync;';
const fs = `data:text/javascript,${encodeURIComponent(source)}`;
const hooks = `export const resolve = (name, context, next) =>
  name === "fs" && context.parentURL?.includes("/conformance/")
    ? { url: ${JSON.stringify(fs)}, shortCircuit: true }
    : next(name, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
