/** Who gives up waits no longer for what others wait for, too. */
import { expect, it } from "vitest";
import type { OpenVault } from "./open-vault.ts";
import { untilAborted } from "./caller-signal.ts";

/** A node that never reaches what is asked of it. */
const never = (): Promise<never> => new Promise(() => undefined);
const behind = { id: "v", view: never, writingKey: never, record: never } as unknown as OpenVault;

it("ends each wait for a node that is behind with the caller's reason, and leaves other callers' vault alone", async () => {
  for (const early of [true, false])
    for (const wait of ["view", "writingKey", "record"] as const) {
      const caller = new AbortController();
      const vault = untilAborted(behind, caller.signal);
      if (early) caller.abort(wait);
      const waiting = (vault[wait] as () => Promise<unknown>)();
      caller.abort(wait);
      await expect(waiting).rejects.toMatchObject({ name: "AbortError", code: "aborted", reason: wait });
    }
  expect(untilAborted(behind, undefined)).toBe(behind);
  expect(untilAborted(null, AbortSignal.abort())).toBeNull();
});
