/** Node's `process` as it really is across runtimes: Node's types promise it everywhere, browsers have none. */
const scope: { readonly process?: Partial<NodeJS.Process> } = globalThis;

/** Node's crypto without importing it, so that bundles for browsers stay free of it; null where there is none. */
export function nativeCrypto() {
  return scope.process?.getBuiltinModule?.("node:crypto") ?? null;
}
