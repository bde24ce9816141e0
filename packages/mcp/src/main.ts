#!/usr/bin/env node
/** Begins. Node keeps what it compiled of the next module, so that the next start is quicker; a Node that is too old is refused. */
import { oldNodeSentence } from "@coffer/tasks/node-version";

const refused = oldNodeSentence("coffer-mcp", { version: process.versions.node, path: process.execPath });
if (refused === null) {
  globalThis.process.getBuiltinModule("node:module").enableCompileCache();
  void import("./process.ts");
} else {
  process.stderr.write(`${refused}\n`);
  process.exitCode = 1;
}
