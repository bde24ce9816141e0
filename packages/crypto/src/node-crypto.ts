/** Node's `process` as it really is across runtimes: Node's types promise it everywhere, browsers have none. */
const scope: { readonly process?: Partial<NodeJS.Process> } = globalThis;

const load = () => scope.process?.getBuiltinModule?.("node:crypto") ?? null;

export type NodeCrypto = NonNullable<ReturnType<typeof load>>;

let nodeCrypto: NodeCrypto | null | undefined;

/** node:crypto without importing it, so that bundles for browsers stay free of it; null where there is none. */
export function findNodeCrypto(): NodeCrypto | null {
  return (nodeCrypto ??= load());
}
