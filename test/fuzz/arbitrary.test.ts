import { endpointsOf, api, isBytes, type EndpointDefinition } from "@coffer/contract";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { arbitraryOf } from "./arbitrary.ts";
import { openDraw } from "./draw.ts";
import { endpointAt } from "./message.ts";
import { MUTATIONS, mutate } from "./mutations.ts";
import { openPool } from "./pool.ts";
import { validMessage } from "./valid.ts";

const endpoints = endpointsOf(api);

describe("what the fuzzer draws", () => {
  it.each(endpoints.map((e) => [e.id, e] as const))("is valid by the schemas of %s", (_, e) => {
    for (const schema of schemasOf(e)) {
      fc.assert(
        fc.property(arbitraryOf(schema), (value) => z.safeParse(schema, value).success),
        { numRuns: 50 },
      );
    }
  });

  it("reaches the endpoint it sets out for when nothing is mutated", () => {
    for (const e of endpoints) {
      const message = validMessage(e, {
        draw: openDraw(3),
        pool: openPool(new Set()),
        foreign: openPool(new Set()),
        keys: ["key"],
        now: 0,
      });
      expect(endpointAt(message.method, message.target)?.id).toBe(e.id);
    }
  });

  it("is the same for the same seed, and another for another", () => {
    const hundred = (seed: number) => {
      const draw = openDraw(seed);
      const sources = { draw, pool: openPool(new Set()), foreign: openPool(new Set()), keys: ["key"] as const, now: 0 };
      return Array.from({ length: 100 }, () =>
        mutate(validMessage(draw.any(endpoints) ?? api.files.list, sources), draw),
      );
    };
    expect(hundred(5)).toEqual(hundred(5));
    expect(hundred(5)).not.toEqual(hundred(6));
  });

  it("uses every mutation", () => {
    const draw = openDraw(9);
    const sources = { draw, pool: openPool(new Set()), foreign: openPool(new Set()), keys: ["key"] as const, now: 0 };
    const used = new Set(
      Array.from({ length: 2000 }, () => mutate(validMessage(api.vaults.update, sources), draw)).flatMap(
        ({ mutations }) => mutations,
      ),
    );
    expect([...used].sort()).toEqual(Object.keys(MUTATIONS).sort());
  });
});

function schemasOf(e: EndpointDefinition): z.core.$ZodType[] {
  const body = e.body === undefined || isBytes(e.body) ? undefined : e.body;
  return [e.params, e.query, e.headers, body].filter((schema) => schema !== undefined);
}
