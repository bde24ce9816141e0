import { uninstallFrom } from "@coffer/tasks/install";
import { command, texts, toggle } from "../../../declarations.ts";
import { chosenHosts } from "../../../tool-server.ts";
import { changeHosts } from "./change-hosts.ts";

export default command({
  brief: "Take the tool server out of the MCP clients again",
  examples: [{ line: "coffer mcp uninstall --client cursor", does: "leaves everything else of the file" }],
  flags: {
    client: texts("Names of clients (default: those that are here)", { placeholder: "NAME" }),
    dryRun: toggle("Change nothing, show what would change"),
  },
  run: async (context, { client, dryRun }) =>
    await changeHosts(context, await chosenHosts(context, client, false), dryRun, (host) =>
      uninstallFrom(host, dryRun),
    ),
});
