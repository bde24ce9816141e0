/** TEST ONLY: a Sui node's gRPC-web answers to readers of objects, as a `fetch`; nothing of it listens. */
import { NO_END_ON_CHAIN } from "@coffer/contract";
import { bcs } from "@mysten/sui/bcs";
import { GrpcTypes } from "@mysten/sui/grpc";
import type { Clock } from "../../ports/clock.ts";
import type { TestVault } from "./chain.test-kit.ts";

export const TEST_PACKAGE = `0x${"c0ffee".padStart(64, "0")}`;

/** The id of the chain that the node serves, unless a test says otherwise. */
export const TEST_CHAIN = "1".repeat(44);

export interface TestNode {
  readonly fetch: typeof fetch;
  readonly objects: Map<string, { readonly type: string; readonly contents: Uint8Array }>;
  /** Milliseconds that its newest checkpoint is behind the clock; null: it does not say. */
  lag: number | null;
  /** What it says of its chain; null: nothing. */
  chainId: string | null;
  /** In the place of every answer. */
  answer: ((signal: AbortSignal | null) => Promise<Response>) | null;
  /** Objects asked for so far. */
  reads: number;
}

export function openTestNode(clock: Clock): TestNode {
  const node: TestNode = {
    objects: new Map(),
    lag: 0,
    chainId: TEST_CHAIN,
    answer: null,
    reads: 0,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const asked = await request.text();
      const isObjects = request.url.endsWith("/sui.rpc.v2.LedgerService/BatchGetObjects");
      if (isObjects) node.reads += 1;
      if (node.answer !== null) return node.answer(init?.signal ?? null);
      return framed(isObjects ? renderObjects(node, asked) : renderInfo(node, clock));
    },
  };
  return node;
}

/** The object of a vault as the Move module writes it; independent of the contract's description of it. */
export function renderVault(
  objectId: string,
  vault: TestVault,
  packageId = TEST_PACKAGE,
): { type: string; contents: Uint8Array } {
  return { type: `${packageId}::vault::Vault`, contents: encodeVault(objectId, vault) };
}

function renderObjects(node: TestNode, asked: string): Uint8Array {
  const { requests } = GrpcTypes.BatchGetObjectsRequest.fromBinary(Buffer.from(asked, "base64").subarray(5));
  const objects = requests.map(({ objectId = "" }): GrpcTypes.GetObjectResult => {
    const object = node.objects.get(objectId);
    if (object === undefined) {
      const error = { code: 5, message: `Object ${objectId} not found`, details: [] };
      return { result: { oneofKind: "error", error } };
    }
    const contents = { name: object.type, value: object.contents };
    return { result: { oneofKind: "object", object: { objectId, version: 1n, objectType: object.type, contents } } };
  });
  return GrpcTypes.BatchGetObjectsResponse.toBinary({ objects });
}

function renderInfo({ lag, chainId }: TestNode, clock: Clock): Uint8Array {
  const chain = chainId === null ? {} : { chainId };
  if (lag === null) return GrpcTypes.GetServiceInfoResponse.toBinary(chain);
  const at = clock.now() - lag;
  const timestamp = { seconds: BigInt(Math.floor(at / 1000)), nanos: (at % 1000) * 1_000_000 };
  return GrpcTypes.GetServiceInfoResponse.toBinary({ ...chain, timestamp });
}

/** One message and the trailers (gRPC-web's PROTOCOL-WEB.md), in base64 as the client asks for it. */
function framed(message: Uint8Array): Response {
  const frames = [frame(0, message), frame(0x80, Buffer.from("grpc-status: 0\r\n"))];
  const headers = { "content-type": "application/grpc-web-text" };
  return new Response(Buffer.concat(frames).toString("base64"), { headers });
}

function frame(kind: number, bytes: Uint8Array): Uint8Array {
  const head = Buffer.alloc(5);
  head.writeUInt8(kind);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

const entry = { address: bcs.Address, signing_key: bcs.byteVector(), since: bcs.u64() };
const Member = bcs.struct("Member", { ...entry, ends_at: bcs.u64(), until: bcs.u64(), replaced_keys: bcs.u8() });
const Former = bcs.struct("Former", { ...entry, until: bcs.u64(), ends_at: bcs.u64() });
const Vault = bcs.struct("Vault", {
  id: bcs.Address,
  generation: bcs.u64(),
  floor: bcs.u64(),
  base: bcs.u64(),
  plain_names: bcs.bool(),
  owner: Member,
  offered: bcs.option(bcs.Address),
  members: bcs.vector(Member),
  former: bcs.vector(Former),
  oldest: bcs.u64(),
  last: bcs.byteVector(),
  before: bcs.byteVector(),
});

function encodeVault(id: string, { plainNames, owner, members, former, ...numbers }: TestVault): Uint8Array {
  const toEntry = (of: TestVault["owner"]) => {
    const ends = { ends_at: of.endsAt ?? NO_END_ON_CHAIN, until: 0, replaced_keys: 0 };
    return { ...of, signing_key: of.signingKey, ...ends };
  };
  return Vault.serialize({
    id,
    ...numbers,
    plain_names: plainNames,
    owner: toEntry(owner),
    offered: owner.address,
    base: 1,
    oldest: 0,
    last: new Uint8Array(32),
    before: new Uint8Array(32),
    members: members.map((of) => ({ ...toEntry(of), until: of.until ?? 0 })),
    former: former.map((of) => ({ ...toEntry(of), until: of.until })),
  }).toBytes();
}
