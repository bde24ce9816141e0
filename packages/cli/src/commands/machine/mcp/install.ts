import { installInto } from "@coffer/tasks/install";
import { command, texts, toggle } from "../../../declarations.ts";
import { usage } from "../../../failure.ts";
import { requireLastingProgram } from "../../../program-location.ts";
import { chosenHosts, serverEntry } from "../../../tool-server.ts";
import { changeHosts } from "./change-hosts.ts";

export default command({
  brief: "Register the tool server with the MCP clients of this machine",
  description:
    "The clients get paths and no secret. Flags of the server follow after --. Doing it twice changes nothing.",
  examples: [
    { line: "coffer mcp install --allow ~/shared --dry-run", does: "shows what would change" },
    {
      line: "coffer mcp install --client cursor,codex --allow ~/shared -- --profile read",
      does: "with flags of the server",
    },
  ],
  flags: {
    client: texts("claude-code, claude-desktop, cursor, codex, gemini, vscode (default: those that are here)", {
      placeholder: "NAME",
    }),
    allow: texts("Folder that the agent may touch; at least one", { placeholder: "DIR" }),
    dryRun: toggle("Change nothing, show what would change"),
  },
  args: { each: { name: "flag", brief: "Flags of the tool server, after --" }, least: 0 },
  run: async (context, { client, allow = [], dryRun }, flags) => {
    await requireLastingProgram(context.world);
    const entry = await serverEntry(context, { allow, flags });
    const hosts = await chosenHosts(context, client, false);
    if (!entry.args.some((arg) => /^--allow(=|$)/.test(arg)))
      throw usage(
        "Without a folder that it may touch the agent could transfer nothing",
        "coffer mcp install --allow DIR",
      );
    return await changeHosts(context, hosts, dryRun, (host) => installInto(host, entry, dryRun));
  },
});
