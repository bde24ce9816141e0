import type { EndpointDefinition } from "@coffer/contract";
import type { Scope } from "@coffer/sdk";
import { argument, command } from "../../../declarations.ts";
import { usage } from "../../../failure.ts";
import { done } from "../../../result.ts";
import { COMMAND_ENDPOINTS } from "./command-endpoints.ts";

export default command({
  brief: "Name the least scopes that a command needs",
  description: "A key for several commands needs the scopes of all of them.",
  examples: [
    { line: "coffer api-keys explain upload", does: "files:read, files:write and the like" },
    { line: "coffer api-keys explain coffer webhooks list", does: "the program's own name may come first" },
  ],
  args: { each: argument("COMMAND", "The words of a command, without its flags"), least: 1 } as const,
  run: async (_context, _flags, typed) => {
    const words = typed.filter((word, at) => at > 0 || word !== "coffer");
    const name = pathOf(words);
    const calls = COMMAND_ENDPOINTS[name];
    if (calls === undefined) throw usage(`There is no command ${words.join(" ")}`, "coffer --help");
    const { api } = await import("@coffer/contract");
    const groups: readonly Readonly<Record<string, EndpointDefinition>>[] = Object.values(api);
    const endpoints = groups.flatMap((group) => Object.values(group));
    const called = endpoints.filter(({ id }) => calls.split(" ").includes(id));
    const scopes = new Set(called.flatMap(({ scope }): Scope[] => (scope === null ? [] : [scope])));
    const isOwners = called.some(({ access }) => access === "owner");
    const needsKey = called.some(({ access }) => access !== "anyone");
    const list = [...scopes].toSorted();
    const lines = [
      needsKey ? anyOr(list) : "It needs no key.",
      ...(isOwners ? ["Some of it is for the owner alone: an agent's key cannot do all of it."] : []),
    ];
    return done({ command: name, needsKey, scopes: list, accessLevel: isOwners ? "owner" : "agent" }, lines);
  },
});

const anyOr = (scopes: readonly Scope[]): string =>
  scopes.length === 0 ? "Any key can do it: it needs no scope." : `scopes: ${scopes.join(",")}`;

/** The longest beginning that is a command; members are below vaults too. */
function pathOf(words: readonly string[]): string {
  const path = words[0] === "vaults" && words[1] === "members" ? words.slice(1) : words;
  const two = path.slice(0, 2).join(" ");
  return Object.hasOwn(COMMAND_ENDPOINTS, two) ? two : (path[0] ?? "");
}
