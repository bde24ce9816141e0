/** The Sui chain over gRPC-web, read with the unmodified `@mysten/sui` client. */
import { decodeVaultObject, type VaultObjectMember, vaultObjectType } from "@coffer/contract/vault-object";
import type { ChainConfig } from "../../config.ts";
import { type Chain, type ChainMember, ChainUnavailableError, type ChainVault } from "../../ports/chain.ts";
import type { Clock } from "../../ports/clock.ts";
import { type Bounds, RememberedVaults } from "./remembered.ts";

export interface SuiChainOptions {
  readonly clock: Clock;
  /** In the place of the runtime's. */
  readonly fetch?: typeof fetch;
  readonly bounds?: Partial<Bounds>;
}

/** A node whose latest checkpoint is older, in milliseconds, is not believed (encryption design §2). */
const MAX_LAG = 30_000;

/** Of an answer: the largest object of the chain is 250 KB, in base64, with what the client asks for beside it. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Opens nothing before the first read; no request is sent but those that read. */
export function openSuiChain(
  config: ChainConfig,
  { clock, fetch: given = fetch, bounds = {} }: SuiChainOptions,
): Chain {
  let client: Promise<SuiClient> | null = null;
  return new RememberedVaults(
    async (objectId, signal) => {
      client ??= openClient(config.url, given);
      const [found] = await Promise.all([
        readObject(await client, config.packageId, { objectId, signal }),
        requireRecent(await client, clock, signal),
      ]);
      return found;
    },
    { clock, bounds },
  );
}

type SuiClient = Awaited<ReturnType<typeof openClient>>;

/** Loaded by the first read: it costs a server without shared vaults neither time nor memory. */
async function openClient(baseUrl: string, given: typeof fetch) {
  const { SuiGrpcClient } = await import("@mysten/sui/grpc");
  // `network` chooses a name service, which nothing here uses.
  return new SuiGrpcClient({
    network: "custom",
    baseUrl,
    fetch: (input, init) => boundedFetch(given, input, init),
    fetchInit: { redirect: "error" },
  });
}

async function readObject(
  client: SuiClient,
  packageId: string,
  { objectId, signal }: { readonly objectId: string; readonly signal: AbortSignal },
): Promise<Omit<ChainVault, "readAt"> | null> {
  const { objects } = await client.getObjects({ objectIds: [objectId], include: { content: true }, signal });
  const [object] = objects;
  if (object === undefined) throw new ChainUnavailableError("The chain's node answered nothing");
  if (object instanceof Error) {
    if (isMissing(object)) return null;
    throw object;
  }
  if (object.type !== vaultObjectType(packageId)) return null;
  return toVault(objectId, object.content);
}

/** `ObjectError` of `@mysten/sui` says `notExists`; everything else is the node's failure. */
function isMissing(error: Error & { readonly code?: unknown }): boolean {
  return error.code === "notExists";
}

async function requireRecent(client: SuiClient, clock: Clock, signal: AbortSignal): Promise<void> {
  const { response } = await client.ledgerService.getServiceInfo({}, { abort: signal });
  const { timestamp } = response;
  if (timestamp === undefined) throw new ChainUnavailableError("The chain's node does not say how recent it is");
  const at = Number(timestamp.seconds) * 1000 + timestamp.nanos / 1_000_000;
  if (clock.now() - at > MAX_LAG) throw new ChainUnavailableError("The chain's node is more than 30 seconds behind");
}

function toVault(objectId: string, content: Uint8Array): Omit<ChainVault, "readAt"> {
  const fields = decodeVaultObject(content);
  if (fields.id !== objectId) throw new ChainUnavailableError("The chain's node answered with another object");
  return {
    objectId,
    owner: toMember(fields.owner),
    members: fields.members.map(toMember),
    former: fields.former.map((entry) => ({ ...toMember(entry), until: toNumber(entry.until) })),
    generation: toNumber(fields.generation),
    floor: toNumber(fields.floor),
    plainNames: fields.plainNames,
  };
}

function toMember({ chainAddress, signingKey, since }: VaultObjectMember): ChainMember {
  return { address: chainAddress, signingKey, since: toNumber(since) };
}

/** Generations count acts of the owner: none gets near 2^53. */
function toNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError("A generation is too large");
  return Number(value);
}

/** A node that sends without end must not fill the memory. */
async function boundedFetch(
  given: typeof fetch,
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
): Promise<Response> {
  const response = await given(input, init);
  if (response.body === null) return response;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new TypeError("The answer is too large");
    parts.push(part);
  }
  return new Response(Buffer.concat(parts), { status: response.status, headers: response.headers });
}
