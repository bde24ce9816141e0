/** What a caller waits for, until it gives up: the work itself is shared with others, and goes on. */
import { AbortError } from "../http/errors.ts";
import type { OpenVault } from "./open-vault.ts";

/** The same vault for one caller. Waiting for a chain node that is behind can take a minute. */
export function untilAborted<Vault extends OpenVault | null>(vault: Vault, signal: AbortSignal | undefined): Vault {
  if (vault === null || signal === undefined) return vault;
  return {
    ...vault,
    view: (options) => unlessAborted(vault.view(options), signal),
    writingKey: (view, use) => unlessAborted(vault.writingKey(view, use), signal),
    record: (keyId, generation) => unlessAborted(vault.record(keyId, generation), signal),
  };
}

/** A caller that gives up waits no longer; callers that share the work do. */
export function unlessAborted<Value>(shared: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return shared;
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      reject(new AbortError(signal.reason));
    };
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    shared.then(resolve, reject).finally(() => {
      signal.removeEventListener("abort", stop);
    });
  });
}
