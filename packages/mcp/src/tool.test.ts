import { LOCAL_FAILURES, toFailure, TaskFailure } from "@coffer/tasks";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Call } from "./call.ts";
import { TOOLS } from "./registry.ts";
import { Transfers } from "./transfers.ts";

const CASES = process.env["COFFER_TEST_COUNTS"] === "full" ? 5_000 : 300;

/** Nobody is signed in and no folder is allowed. */
const call: Call = {
  signal: new AbortController().signal,
  progress: () => undefined,
  client: () => Promise.reject(new TaskFailure("signed_out")),
  clientFor: () => Promise.reject(new TaskFailure("signed_out")),
  folders: { folders: [], denied: { folders: [], files: [] } },
  downloads: { folders: [], denied: { folders: [], files: [] } },
  pinnedVault: null,
  revealsSharedText: false,
  transfers: new Transfers(),
  watchedBy: () => call,
  confirm: () => Promise.resolve(),
  taint: () => undefined,
  recordClosedContent: () => undefined,
  isRemote: false,
  requireHandOut: () => undefined,
  handOut: () => Promise.resolve(null),
  storedInvites: () => Promise.resolve(new Map()),
  network: () => Promise.resolve(null),
  setup: () =>
    Promise.resolve({
      baseUrl: null,
      configFile: null,
      configProfile: null,
      keyFrom: null,
      sharedVaults: "not set up",
    }),
  chainAddress: () => Promise.resolve(null),
};

const id = fc.constant("0b6d5e0e-6a3b-4f0f-9e0a-1c2d3e4f5a6b");
const value = fc.oneof(
  id,
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom("error", "version", "public", "root"),
  fc.jsonValue(),
);

describe.each(TOOLS)("$name", (tool) => {
  const properties = Object.keys(tool.inputSchema(false)["properties"] as object);
  const names = fc.constantFrom(...properties, "unknown", "__proto__", "constructor");
  const args = fc.oneof(fc.jsonValue(), fc.dictionary(names, value));

  it("answers any arguments with a known failure, and never repeats them", async () => {
    await fc.assert(
      fc.asyncProperty(args, async (given) => {
        const failure = await tool.invoke(given, call).then(
          () => null,
          (error: unknown) => toFailure(error),
        );
        if (tool.name === "status_check" && failure === null) return;
        expect(["invalid_arguments", "signed_out", "path_not_allowed", "transfer_unknown"]).toContain(failure?.code);
        if (failure?.code === "signed_out") expect(failure.message).toBe(LOCAL_FAILURES.signed_out.message);
      }),
      { numRuns: CASES },
    );
  });

  it("has a schema that takes no other arguments", () => {
    expect(tool.inputSchema(false)).toMatchObject({ type: "object", additionalProperties: false });
  });
});
