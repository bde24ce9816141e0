import { api, type EndpointDefinition } from "@coffer/contract";
import { expect, it } from "vitest";
import { findRoute } from "../../../find-route.ts";
import { ROUTES } from "../../../routes.ts";
import { CALLS } from "./calls.ts";

it("names commands and endpoints that exist [issue 19]", async () => {
  const groups: readonly Readonly<Record<string, EndpointDefinition>>[] = Object.values(api);
  const ids = new Set<string>(groups.flatMap((group) => Object.values(group).map(({ id }) => id)));
  expect(Object.values(CALLS).flatMap((calls) => calls.split(" ").filter((id) => !ids.has(id)))).toEqual([]);
  const lines = await Promise.all(
    Object.keys(CALLS).map(async (name) => ({ name, ...(await findRoute(ROUTES, name.split(" "))) })),
  );
  expect(lines.filter(({ found }) => found === null).map(({ name }) => name)).toEqual([]);
});
