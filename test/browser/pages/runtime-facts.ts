/** What the browser itself was asked for, and what it lets pages do: said to the test, so that it knows what it has tested. */

export interface RuntimeFacts {
  readonly isWorker: boolean;
  readonly isSecureContext: boolean;
  readonly hasSharedMemory: boolean;
  /** Whether the page's policy lets text be run as code. */
  readonly runsText: boolean;
  /** Calls of `crypto.subtle`, as `decrypt AES-GCM`. */
  readonly calls: Readonly<Record<string, number>>;
}

/** Begins to count. Call it before anything that may keep `crypto.subtle`'s functions. */
export function countCalls(): () => RuntimeFacts {
  const calls: Record<string, number> = {};
  const prototype = SubtleCrypto.prototype as unknown as Record<string, (...given: unknown[]) => unknown>;
  for (const name of ["encrypt", "decrypt", "sign", "verify"]) {
    const original = prototype[name]!;
    prototype[name] = function (this: SubtleCrypto, ...given) {
      const [algorithm] = given;
      const called = `${name} ${typeof algorithm === "string" ? algorithm : (algorithm as Algorithm).name}`;
      calls[called] = (calls[called] ?? 0) + 1;
      return original.apply(this, given);
    };
  }
  return () => ({
    isWorker: typeof document === "undefined",
    isSecureContext,
    hasSharedMemory: typeof SharedArrayBuffer !== "undefined",
    runsText: runsText(),
    calls: { ...calls },
  });
}

function runsText(): boolean {
  try {
    Reflect.construct(Function, [""]);
    return true;
  } catch {
    return false;
  }
}
