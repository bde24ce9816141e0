/** A chain node for tests, whose answers each test changes. */
import { NO_END } from "@coffer/crypto";
import { bcs } from "@mysten/sui/bcs";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { fromBase64, fromHex } from "@mysten/sui/utils";
import { KNOWN_NETWORKS } from "./network-catalog.ts";
import type { NetworkConfiguration } from "./network.ts";
import type { Node } from "./node.ts";
import { MODULES, PACKAGE_DIGEST } from "./package/index.ts";
import { openPins } from "./pins.ts";
import { openVaultReader } from "./vault-reader.ts";

export const id = (byte: string): string => `0x${byte.repeat(32)}`;
export const [PACKAGE, VAULT, OWNER] = [id("ab"), id("02"), id("03")];
export const NOW = 1_800_000_000_000;

export const network: NetworkConfiguration = {
  network: "localnet",
  chainId: KNOWN_NETWORKS.testnet.chainId,
  grpcUrl: "http://127.0.0.1:9",
  originalPackageId: PACKAGE,
  latestPackageId: PACKAGE,
  packageDigest: PACKAGE_DIGEST,
  keyServerSets: [],
};

const member = bcs.struct("Member", {
  address: bcs.Address,
  key: bcs.byteVector(),
  since: bcs.u64(),
  endsAt: bcs.u64(),
  until: bcs.u64(),
  replacedKeys: bcs.u8(),
});
/** The bytes behind the key in an open entry without an end. */
export const OPEN = { since: 1, endsAt: NO_END, until: 0, replacedKeys: 0 } as const;
export const vaultBcs = bcs.struct("Vault", {
  id: bcs.Address,
  generation: bcs.u64(),
  floor: bcs.u64(),
  base: bcs.u64(),
  plainNames: bcs.bool(),
  owner: member,
  offered: bcs.option(bcs.Address),
  members: bcs.vector(member),
  former: bcs.vector(bcs.tuple([bcs.Address, bcs.byteVector(), bcs.u64(), bcs.u64(), bcs.u64()])),
  oldest: bcs.u64(),
  last: bcs.byteVector(),
  before: bcs.byteVector(),
});

export type NodeFake = ReturnType<typeof newState>;

/** A node whose answers each test changes: the object's state is its present content. */
export function fakeNode(host = "node.example") {
  const state = newState();
  const client = clientOf(state);
  const node: Node = {
    network: { ...network, grpcUrl: `https://${host}` },
    client,
    clock: () => state.now,
    wait: async (milliseconds) => {
      state.waits.push(milliseconds);
      state.onWait();
    },
  };
  return { state, node, ...openVaultReader(node, openPins(node), () => state.elapsed) };
}

function newState() {
  return {
    now: NOW,
    /** Milliseconds of a clock that nobody sets. */
    elapsed: 0,
    nodeTime: NOW,
    chainId: network.chainId,
    generation: 1n,
    floor: 1n,
    version: 10n,
    members: [] as string[],
    type: `${PACKAGE}::vault::Vault`,
    shared: true,
    contents: null as Uint8Array | null,
    exists: true,
    /** The object in the node's answer; null: the requested one. */
    answersWith: null as string | null,
    down: false,
    code: Uint8Array.from(fromBase64(MODULES[0] ?? "")),
    packageVersion: "1",
    reads: 0,
    waits: [] as number[],
    /** Runs while a caller waits before it asks again. */
    onWait: () => undefined as unknown,
  };
}

function clientOf(state: NodeFake): SuiGrpcClient {
  return {
    ledgerService: {
      getServiceInfo: async () => {
        if (state.down) throw new TypeError("fetch failed");
        const timestamp = { seconds: BigInt(Math.floor(state.nodeTime / 1000)), nanos: (state.nodeTime % 1000) * 1e6 };
        return { response: { chainId: state.chainId, epoch: 0n, timestamp } };
      },
    },
    core: {
      getObjects: async ({ objectIds }: { objectIds: string[] }) => {
        if (state.down) throw new TypeError("fetch failed");
        return { objects: objectIds.map((objectId) => objectOf(state, objectId)) };
      },
    },
  } as unknown as SuiGrpcClient;
}

function objectOf(state: NodeFake, objectId: string): object | Error {
  if (objectId === PACKAGE) return { objectId, objectBcs: packageBytes(state.code, state.packageVersion) };
  state.reads++;
  if (!state.exists) return Object.assign(new Error("gone"), { reason: "notFound" });
  const owner = state.shared
    ? { $kind: "Shared", Shared: { initialSharedVersion: "4" } }
    : { $kind: "AddressOwner", AddressOwner: OWNER };
  const content = state.contents ?? vaultContents(state);
  return {
    objectId: state.answersWith ?? objectId,
    type: state.type,
    version: String(state.version),
    owner,
    content,
  };
}

function vaultContents(state: NodeFake): Uint8Array {
  return vaultBcs
    .serialize({
      id: VAULT,
      generation: state.generation,
      floor: state.floor,
      plainNames: false,
      base: 1,
      owner: { address: OWNER, key: new Uint8Array(32).fill(9), ...OPEN },
      offered: null,
      members: state.members.map((address) => ({ address, key: [], ...OPEN })),
      former: [],
      oldest: 0,
      last: new Uint8Array(32),
      before: new Uint8Array(32),
    })
    .toBytes();
}

/** The package as the chain stores it: its own id where the compiled module has zeros. */
function packageBytes(code: Uint8Array, version: string): Uint8Array {
  const published = code.slice();
  const zeros = Buffer.from(published).indexOf(Buffer.alloc(32));
  published.set(fromHex(PACKAGE), zeros);
  return bcs.Object.serialize({
    data: {
      Package: {
        id: PACKAGE,
        version,
        moduleMap: new Map([["vault", published]]),
        typeOriginTable: [],
        linkageTable: new Map(),
      },
    },
    owner: { Immutable: true },
    previousTransaction: network.chainId,
    storageRebate: 0,
  }).toBytes();
}

export function changeLast(code: Uint8Array): Uint8Array<ArrayBuffer> {
  const changed = Uint8Array.from(code);
  changed.set([(changed.at(-1) ?? 0) ^ 1], changed.length - 1);
  return changed;
}
