/**
 * A service that answers every call with any other object that it has ever served: wrong id, vault, type, owner, generation, folder, account,
 * and mixtures of them. Nothing of a shared vault that a machine knows leaves in the clear or for another object, nothing foreign is
 * returned as asked for, and no pin changes, in running and in fresh processes. A failure names its call and the lies that were told in it; its
 * seed alone draws the same ones again (`COFFER_TEST_COUNTS=full npx vitest run test/any-answer -t "seed 5"`), of ids that are new each time.
 */
import { createClient } from "@coffer/sdk";
import * as node from "@coffer/sdk/node";
import { describe, expect, test } from "vitest";
import { openDraw } from "./draw.ts";
import { ENDPOINTS, isOfEndpoints } from "./endpoints.ts";
import { LOCAL, METHODS, methodsOf, NODE_METHODS } from "./methods.ts";
import { openRunner } from "./run.ts";
import { TOOL_METHODS, toolNames } from "./tools.ts";
import { openWorld } from "./world.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
/** Each is a world of its own: 10,000 lies with full counts. */
const SEEDS = FULL ? Array.from({ length: 10 }, (_, at) => at + 1) : [11];
const LIES = FULL ? 1000 : 200;

describe("what is lied to", () => {
  test("is every method of a client, and every function of the SDK that asks the service", () => {
    const client = createClient({ baseUrl: "http://127.0.0.1:1" });
    const left = methodsOf(client).filter((name) => METHODS[name] !== undefined || !isOfEndpoints(name));
    expect(Object.keys(METHODS).sort()).toEqual(left.sort());
    const functions = Object.entries(node).flatMap(([name, value]) => (typeof value === "function" ? [name] : []));
    expect([...Object.keys(NODE_METHODS), ...LOCAL].sort()).toEqual(functions.sort());
  });

  test("is every tool for models", async () => {
    expect(Object.keys(TOOL_METHODS).sort()).toEqual((await toolNames()).sort());
  });
});

const all = Object.entries({ ...METHODS, ...NODE_METHODS, ...ENDPOINTS });
const ofContent = all.filter(([name]) =>
  /^(files|folders|trash|vaults\.(create|get|list)|.*(File|Folder)$)/.test(name),
);
/** Names are looked for there. */
const lists = all.filter(([name]) => /^(files|folders)\.list$/.test(name));
const tools = Object.entries(TOOL_METHODS);

test.each(SEEDS)(
  "whatever the service answers, no pin changes, nothing gets out and nothing foreign is accepted: seed %i [S16 S23 S26]",
  async (seed) => {
    const draw = openDraw(seed);
    await using world = await openWorld(draw.fork("world"));
    await using runner = await openRunner(world, draw.fork("calls"));
    // Each once, and then those that carry names and contents more often than the others.
    for (const [name, method] of [...all, ...tools]) await runner.one(name, method);
    while (world.liar.lies < LIES) {
      if (draw.chance(0.25)) await runner.begin(draw.chance(0.02));
      const [name, method] = draw.pick(draw.pick([all, ofContent, ofContent, lists, tools]));
      await runner.one(name, method);
    }
    expect(runner.blamed).toEqual([]);
  },
);
