import { installState } from "@coffer/tasks/install";
import { command, texts } from "../../../declarations.ts";
import { listing } from "../../../result.ts";
import { chosenHosts, serverEntry } from "../../../tool-server.ts";

const WORDS = {
  installed: "installed",
  missing: "not installed",
  other: "has another server of this name",
  absent: "is not on this machine",
  unreadable: "cannot be read",
} as const;

/** Whether there is nothing to install: a client that is not here needs nothing. */
const IS_DONE = { installed: true, missing: false, other: false, absent: true, unreadable: false } as const;

export default command({
  brief: "Show which MCP clients start the tool server",
  examples: [{ line: "coffer mcp status --json", does: "for a script" }],
  flags: { client: texts("Names of clients (default: all)", { placeholder: "NAME" }) },
  isList: true,
  run: async (context, { client }) => {
    const entry = await serverEntry(context, { allow: [], flags: [] });
    const states = await Promise.all(
      (await chosenHosts(context, client, true)).map((host) => installState(host, entry)),
    );
    return listing({
      name: "clients",
      empty: "",
      items: states.map(({ host, state, problem }) => ({
        client: host.id,
        title: host.title,
        file: host.file,
        state,
        problem,
      })),
      columns: [
        { title: "client", of: ({ title }) => title },
        { title: "state", of: ({ state, problem }) => problem ?? WORDS[state] },
        { title: "file", of: ({ file }) => file },
      ],
      after: states.every(({ state }) => IS_DONE[state]) ? [] : ["Next: coffer mcp install --allow DIR"],
    });
  },
});
