import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { stackOpeners } from "./programs/programs.ts";
import { failuresOf, journeysOn, LIMIT } from "./programs/samples.ts";
import { startStack, type Stack } from "./kit/stack.ts";

describe("journeys on the whole stack", () => {
  let shared: Stack;
  beforeAll(async () => {
    shared = await startStack({ dataDirectory: join(makeDirectory(), "data") });
  }, LIMIT);
  /** Rejects when a secret is found in what the stack printed or stored. */
  afterAll(() => shared[Symbol.asyncDispose](), LIMIT);

  it.each(journeysOn("stack", "rest"))(
    "$name: $title",
    async (journey) => expect(await failuresOf(journey, stackOpeners(journey.name, shared))).toEqual([]),
    LIMIT,
  );
});
