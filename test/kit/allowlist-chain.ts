/** A chain that knows one package, one allowlist and nothing else: enough for key servers to ask, and for SealClient to find them. */
import type { SealCompatibleClient } from "@mysten/seal";
import { bcs } from "@mysten/sui/bcs";
import { deriveDynamicFieldID } from "@mysten/sui/utils";
import { verifyPersonalMessageSignature } from "@mysten/sui/verify";
import type { ChainAccess, ChainObject, ChainView, Simulation } from "../../packages/localnet/src/chain-access.ts";

export const PACKAGE = `0x${"c0".repeat(32)}`;
/** The only object calls may name. */
export const VAULT = `0x${"aa".repeat(32)}`;

export interface AllowlistChain {
  readonly access: ChainAccess;
  /** What SealClient reads. */
  readonly client: SealCompatibleClient;
  readonly members: Set<string>;
  /** Added to the machine's clock, milliseconds. */
  skew: number;
}

export function openAllowlistChain(): AllowlistChain {
  const objects = new Map<string, ChainObject>();
  const members = new Set<string>();
  const chain = { skew: 0 };
  const now = (): number => Date.now() + chain.skew;
  const access: ChainAccess = {
    ...viewOf(members, objects, now),
    now,
    packageId: PACKAGE,
    putObject: async (object) => {
      const put = { ...object, version: 1n, digest: "", previousTransaction: "" };
      objects.set(object.id, put);
      return put;
    },
    snapshot: () => {
      const frozenAt = now();
      return viewOf(new Set(members), new Map(objects), () => frozenAt);
    },
    verifyPersonalMessage: async (message, signature, address) =>
      await verifyPersonalMessageSignature(message, signature, { address }).then(
        () => true,
        () => false,
      ),
  };
  return Object.assign(chain, { access, members, client: clientOf(objects) });
}

function viewOf(members: Set<string>, objects: Map<string, ChainObject>, time: () => number): ChainView {
  return {
    chainId: "allowlist",
    checkpointTime: time,
    readObject: (id) => objects.get(id) ?? null,
    readPackage: (id) => (id === PACKAGE ? { id, originalId: PACKAGE, version: 1n, modules: new Map() } : null),
    simulateAs: (sender, bytes) => simulate(bcs.ProgrammableTransaction.parse(bytes), members.has(sender)),
  };
}

function simulate(
  { inputs, commands }: ReturnType<typeof bcs.ProgrammableTransaction.parse>,
  isMember: boolean,
): Simulation {
  const unknown = inputs.map((input) => input.Object?.SharedObject?.objectId).find((id) => id != null && id !== VAULT);
  if (unknown != null) return { outcome: "object_missing", objectId: unknown, message: "no such object" };
  if (commands.some((command) => command.MoveCall?.function !== "seal_approve"))
    return { outcome: "invalid", message: "no such function" };
  if (isMember) return { outcome: "succeeded" };
  return { outcome: "aborted", code: 13n, module: "vault", function: "seal_approve", message: "not a member" };
}

function clientOf(objects: Map<string, ChainObject>): SealCompatibleClient {
  const read = (id: string): Uint8Array => objects.get(id)?.contents ?? new Uint8Array();
  const core = {
    getObject: async ({ objectId }: { objectId: string }) =>
      objectId === PACKAGE ? { object: { version: "1" } } : { object: { version: "1", content: read(objectId) } },
    getDynamicField: async ({ parentId, name }: { parentId: string; name: { bcs: Uint8Array } }) => {
      const id = deriveDynamicFieldID(parentId, "u64", name.bcs);
      if (!objects.has(id)) throw new Error("no such dynamic field");
      return { dynamicField: { value: { bcs: read(id).slice(40) } } };
    },
  };
  return { core } as unknown as SealCompatibleClient;
}
