/**
 * The first module of `coffer.mjs`, which is the command line and the tool server in one file. It is bundled so that everything else, Node's
 * own modules too, is loaded after this one: a Node that is too old comes as far as the sentence that says so.
 */
import { TOOL_SERVER_WORD } from "../../packages/cli/src/one-file.ts";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `coffer.mjs: needs Node 22.18 or newer, and this is Node ${process.versions.node} at ${process.execPath}. Install a newer one, or run coffer.mjs with it\n`,
  );
  process.exitCode = 1;
} else if (process.argv[2] === TOOL_SERVER_WORD) {
  process.argv.splice(2, 1);
  void import("../../packages/mcp/src/process.ts");
} else {
  void import("../../packages/cli/src/process.ts");
}
