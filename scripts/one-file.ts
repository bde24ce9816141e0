/** What `coffer.mjs` is built from: the command line and the tool server. They share most of their code. */
import { TOOL_SERVER_WORD } from "../packages/cli/src/one-file.ts";

if (process.argv[2] === TOOL_SERVER_WORD) {
  process.argv.splice(2, 1);
  void import("../packages/mcp/src/process.ts");
} else {
  void import("../packages/cli/src/process.ts");
}
