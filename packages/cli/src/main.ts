#!/usr/bin/env node
/** Begins: Node keeps what it compiled of the next module, so that the next start is quicker. */
globalThis.process.getBuiltinModule("node:module").enableCompileCache();
await import("./process.ts");
