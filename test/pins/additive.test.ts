/** Changes of the interface only add. `npm run generate:baseline` records what clients may rely on from then on. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { api } from "@coffer/contract";
import { expect, it } from "vitest";
import * as z from "zod/mini";
import { breaksOf, surfaceOf } from "../../scripts/api-surface.ts";

const baseline = readFileSync(join(import.meta.dirname, "api-baseline.txt"), "utf8")
  .trimEnd()
  .split("\n");

it("takes and answers all that it did, and needs nothing new [D1-deprecation]", () => {
  expect(breaksOf(baseline, surfaceOf(api))).toEqual([]);
  expect(baseline.length).toBeGreaterThan(1_000);
});

const BEFORE = {
  groups: {
    make: makeWith({ name: z.string(), note: z.optional(z.enum(["a", "b"])) }, { id: z.string(), size: z.number() }),
  },
};

function makeWith(body: Record<string, z.ZodMiniType>, output: Record<string, z.ZodMiniType>, path = "/api/things") {
  return {
    ...api.vaults.create,
    ...{ path: path as `/${string}`, body: z.strictObject(body), output: z.object({ thing: z.object(output) }) },
  };
}
const breaks = (...[body, output, path]: Parameters<typeof makeWith>): string[] =>
  breaksOf(surfaceOf(BEFORE), surfaceOf({ groups: { make: makeWith(body, output, path) } }));

it("sees what would break a client, and no addition", () => {
  const [name, note] = [z.string(), z.optional(z.enum(["a", "b"]))];
  const [id, size] = [z.string(), z.number()];
  expect(breaks({ name, note }, { id, size })).toEqual([]);
  expect(
    breaks(
      { name: z.optional(name), note: z.optional(z.enum(["a", "b", "c"])), more: z.optional(z.string()) },
      { id, size, more: z.string() },
    ),
  ).toEqual([]);
  const at = "POST /api/things";
  expect(breaks({ name, note, more: z.string() }, { id, size })).toEqual([`new: ${at} needs application/json.more`]);
  expect(breaks({ name, note: z.enum(["a", "b"]) }, { id, size })).toEqual([`new: ${at} needs application/json.note`]);
  expect(breaks({ name }, { id, size })).toContain(`gone: ${at} takes application/json.note: string`);
  expect(breaks({ name, note: z.optional(z.enum(["a"])) }, { id, size })).toEqual([
    `gone: ${at} takes application/json.note = b`,
  ]);
  expect(breaks({ name, note }, { id })).toEqual([`gone: ${at} answers 201 application/json.thing.size: number`]);
  expect(breaks({ name, note }, { id: z.number(), size })).toEqual([
    `gone: ${at} answers 201 application/json.thing.id: string`,
  ]);
  expect(breaks({ name, note }, { id, size }, "/api/objects")).toContain(`gone: ${at}`);
});
