/** Node's `process` as it really is across runtimes: Node's types promise it everywhere, browsers have none. */
const scope: { readonly process?: Partial<NodeJS.Process> } = globalThis;

/** Version of Node, or the one that a compatible runtime (Bun, Deno) reports; null in browsers. */
export function nodeVersion(): string | null {
  return scope.process?.versions?.node ?? null;
}

/** The environment of the process, and what Node was started with; nothing in browsers. */
export function processFacts(): Partial<Pick<NodeJS.Process, "env" | "execArgv">> {
  return scope.process ?? {};
}

/** Whether request bodies may be streams: Node, Bun, Deno and Workers, which say so of themselves; not browsers. */
export function canStreamRequests(): boolean {
  return nodeVersion() !== null || globalThis.navigator?.userAgent === "Cloudflare-Workers";
}

let mode: "error" | "manual" | null = null;

/**
 * How a request refuses redirects: `error`, or `manual` where the runtime refuses `error`, as workerd does, and in
 * browsers, which do not tell a page an `error` from a missing answer.
 */
export function redirectMode(): "error" | "manual" {
  if (mode !== null) return mode;
  try {
    // A program that brings its own `fetch` may have no `Request` at all.
    if ("Request" in globalThis) new Request("http://localhost/", { redirect: "error" });
    mode = nodeVersion() === null ? "manual" : "error";
  } catch {
    mode = "manual";
  }
  return mode;
}
