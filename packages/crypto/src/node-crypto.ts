/** Node's `process` as it really is across runtimes: Node's types promise it everywhere, browsers have none. */
const scope: { readonly process?: Partial<NodeJS.Process> } = globalThis;

const load = () => scope.process?.getBuiltinModule?.("node:crypto") ?? null;

export type NodeCrypto = NonNullable<ReturnType<typeof load>>;

/** A digest without an object for it, which takes two thirds of the time. Node has that since 20.12. */
export function hashOnce(node: NodeCrypto, algorithm: "sha256" | "sha512", bytes: Uint8Array): Uint8Array {
  const { hash }: Partial<NodeCrypto> = node;
  if (hash === undefined) return new Uint8Array(node.createHash(algorithm).update(bytes).digest());
  const { buffer, byteLength, byteOffset } = hash(algorithm, bytes, "buffer");
  return new Uint8Array(buffer, byteOffset, byteLength);
}

let found: NodeCrypto | null | undefined;

/** node:crypto without importing it, so that bundles for browsers stay free of it; null where there is none. */
export function findNodeCrypto(): NodeCrypto | null {
  return (found ??= load());
}
