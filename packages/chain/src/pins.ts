/** Compares a chain node with the configured network: its chain, and the code that decides who is a member. */
import { bcs } from "@mysten/sui/bcs";
import { fromBase64, fromHex } from "@mysten/sui/utils";
import { ChainError } from "./errors.ts";
import { findObject, type Node, readNodeState } from "./node.ts";
import { MODULE, MODULES, PACKAGE_DIGEST } from "./package/index.ts";

export interface Pins {
  /**
   * Once per connection, unless it failed.
   * @throws ChainError `network_changed`, `chain_unavailable`.
   */
  verify(): Promise<void>;
  /** @throws ChainError `network_changed`, which names both ids. */
  checkChain(chainId: string): void;
}

export function openPins(node: Node): Pins {
  let verified: Promise<void> | null = null;
  const checkChain = (chainId: string): void => {
    if (chainId !== node.network.chainId) throw changed("chain", node.network.chainId, shorten(chainId));
  };
  const verify = async (): Promise<void> => {
    const [state, code] = await Promise.allSettled([readNodeState(node), verifyPackage(node)]);
    if (state.status === "rejected") throw state.reason;
    checkChain(state.value.chainId);
    if (code.status === "rejected") throw code.reason;
  };
  return {
    checkChain,
    verify: () => {
      verified ??= verify().catch((cause: unknown) => {
        verified = null;
        throw cause;
      });
      return verified;
    },
  };
}

/**
 * The package on the chain is this program's, byte for byte, in its first version, which is the called one. No object
 * shows that nobody kept the right to upgrade it. The `publish` command gives that right up. If you configure another
 * package, you vouch for it.
 */
async function verifyPackage(node: Node): Promise<void> {
  const { originalPackageId, latestPackageId, packageDigest } = node.network;
  if (packageDigest !== PACKAGE_DIGEST) throw changed("package digest", PACKAGE_DIGEST, packageDigest);
  if (latestPackageId !== originalPackageId) throw changed("package", originalPackageId, latestPackageId);
  const object = await findObject(node, originalPackageId, "objectBcs");
  if (object?.objectBcs === undefined) throw changed("package", originalPackageId, "nothing");
  const modules = parseModules(object.objectBcs, originalPackageId);
  const [expected, ...more] = MODULES.map((module) => fromBase64(module));
  const module = modules?.get(MODULE);
  if (expected === undefined || more.length > 0 || modules?.size !== 1 || module === undefined)
    throw changed("package", originalPackageId, "a package with other modules");
  if (!equal(unplace(module, originalPackageId), expected))
    throw changed("package", originalPackageId, "a package with other code");
}

/** Name → bytecode, or null for anything but a package of that id. */
function parseModules(objectBcs: Uint8Array, packageId: string): ReadonlyMap<string, Uint8Array> | null {
  try {
    const { data } = bcs.Object.parse(objectBcs);
    if (data.Package?.id !== packageId || data.Package.version !== "1") return null;
    return new Map([...data.Package.moduleMap].map(([name, code]) => [name, Uint8Array.from(code)]));
  } catch {
    return null;
  }
}

/** A published module names its own package where the compiled one has zeros. The id is a hash over the module: it is nowhere else. */
function unplace(code: Uint8Array, packageId: string): Uint8Array {
  const id = fromHex(packageId);
  const copy = Uint8Array.from(code);
  for (let at = 0; at + id.length <= copy.length; at++)
    if (id.every((byte, offset) => copy[at + offset] === byte)) copy.fill(0, at, at + id.length);
  return copy;
}

function equal(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, at) => byte === right[at]);
}

function changed(what: string, configured: string, actual: string): ChainError {
  return new ChainError("network_changed", {
    message: `The configured ${what} is ${configured}, but there is ${actual}. Nothing was signed; check the network configuration.`,
  });
}

/** A node's text is cut: it goes into a message. */
function shorten(text: string): string {
  return text.replace(/[^1-9A-HJ-NP-Za-km-z]/g, "?").slice(0, 64);
}
