import { api, type EndpointDefinition } from "@coffer/contract";
import { expect, it } from "vitest";
import { listCommands } from "../../../command-list.ts";
import { ROUTES } from "../../../routes.ts";
import { COMMAND_ENDPOINTS } from "./command-endpoints.ts";

it("names every command, and endpoints that exist [issue 19]", async () => {
  const groups: readonly Readonly<Record<string, EndpointDefinition>>[] = Object.values(api);
  const ids = new Set<string>(groups.flatMap((group) => Object.values(group).map(({ id }) => id)));
  const named = Object.values(COMMAND_ENDPOINTS).flatMap((calls) => calls.split(" ").filter((id) => id !== ""));
  expect(named.filter((id) => !ids.has(id))).toEqual([]);
  // Members stand below vaults too.
  const names = (await listCommands(ROUTES)).map(({ path }) => path.join(" ").replace(/^vaults (?=members )/, ""));
  expect(Object.keys(COMMAND_ENDPOINTS)).toEqual([...new Set(names)].toSorted());
});
