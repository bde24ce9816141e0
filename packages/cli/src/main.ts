#!/usr/bin/env node
/** Begins. A Node that is too old is refused here: it could not even load the next module, so this one imports what every Node has. */
import module from "node:module";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major > 22 || (major === 22 && minor >= 18)) {
  // Node keeps what it compiled of the next module, so that the next start is quicker.
  module.enableCompileCache();
  void import("./process.ts");
} else {
  process.stderr.write(
    `coffer: needs Node 22.18 or newer, and this is Node ${process.versions.node} at ${process.execPath}. Install a newer one, or run coffer with it\n`,
  );
  process.exitCode = 1;
}
