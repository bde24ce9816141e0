/** What the browser itself was asked for, and what it lets pages do: said to the test, so that it knows what it has tested. */
import { replace } from "./watched-secrets.ts";

export interface RuntimeFacts {
  readonly isWorker: boolean;
  readonly isSecureContext: boolean;
  readonly hasSharedMemory: boolean;
  /** Whether the page's policy lets text be run as code. */
  readonly runsText: boolean;
  /** What the page's policy refused so far: `script-src eval` where anything but the question above tried that. */
  readonly violations: readonly string[];
  /** Calls of `crypto.subtle`, as `decrypt AES-GCM`. */
  readonly calls: Readonly<Record<string, number>>;
}

/** Begins to count. Call it before anything that may keep `crypto.subtle`'s functions. */
export function countCalls(): () => RuntimeFacts {
  const calls: Record<string, number> = {};
  const violations: string[] = [];
  addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
    violations.push(`${effectiveDirective} ${blockedURI}`);
  });
  for (const name of ["encrypt", "decrypt", "sign", "verify"] as const)
    replace(name, (original) => (...given) => {
      const [algorithm] = given;
      const called = `${name} ${typeof algorithm === "string" ? algorithm : (algorithm as Algorithm).name}`;
      calls[called] = (calls[called] ?? 0) + 1;
      return original(...given);
    });
  return () => ({
    isWorker: typeof document === "undefined",
    isSecureContext,
    hasSharedMemory: typeof SharedArrayBuffer !== "undefined",
    // Before the next line: its own violation is told later.
    violations: [...violations],
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
