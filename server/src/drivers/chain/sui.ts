/** The Sui chain over gRPC-web, read with the unmodified `@mysten/sui` client. */
import { decodeVaultObject, vaultObjectType, type VaultObjectMember } from "@coffer/contract";
import type { ChainConfig } from "../../config.ts";
import { type Chain, type ChainMember, ChainUnavailableError, type ChainVault } from "../../ports/chain.ts";
import type { Clock } from "../../ports/clock.ts";
import { type ChainPin, pinChain } from "./chain-pin.ts";
import { openSuiClient, readRecent, type SuiClient } from "./node.ts";
import { type Bounds, RememberedVaults } from "./remembered.ts";

export interface SuiChainOptions {
  readonly clock: Clock;
  /** In the place of the runtime's. */
  readonly fetch?: typeof fetch;
  readonly bounds?: Partial<Bounds>;
  /** Shared with what else reads through the node; one of its own when absent. */
  readonly pin?: ChainPin;
}

/** Opens nothing before the first read; no request is sent but those that read. */
export function openSuiChain(
  config: ChainConfig,
  { clock, fetch: given = fetch, bounds = {}, pin = pinChain(config.chainId) }: SuiChainOptions,
): Chain {
  let client: Promise<SuiClient> | null = null;
  return new RememberedVaults(
    async (objectId, signal) => {
      client ??= openSuiClient(config.url, given);
      const [found, { time }] = await Promise.all([
        readObject(await client, config.packageId, { objectId, signal }),
        readRecent({ client: await client, clock, pin }, signal),
      ]);
      return found === null ? null : { ...found, time };
    },
    { clock, bounds },
  );
}

async function readObject(
  client: SuiClient,
  packageId: string,
  { objectId, signal }: { readonly objectId: string; readonly signal: AbortSignal },
): Promise<Omit<ChainVault, "readAt" | "time"> | null> {
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

function toVault(objectId: string, content: Uint8Array): Omit<ChainVault, "readAt" | "time"> {
  const fields = decodeVaultObject(content);
  if (fields.id !== objectId) throw new ChainUnavailableError("The chain's node answered with another object");
  return {
    objectId,
    owner: toMember(fields.owner),
    members: fields.members.map((entry) => ({
      ...toMember(entry),
      until: entry.until === 0n ? null : toNumber(entry.until),
    })),
    former: fields.former.map((entry) => ({ ...toMember(entry), until: toNumber(entry.until) })),
    generation: toNumber(fields.generation),
    floor: toNumber(fields.floor),
    plainNames: fields.plainNames,
  };
}

type Entry = Pick<VaultObjectMember, "chainAddress" | "signingKey" | "since" | "endsAt">;

function toMember({ chainAddress, signingKey, since, endsAt }: Entry): ChainMember {
  // No end, or one too far in the future.
  const end = endsAt > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(endsAt);
  return { address: chainAddress, signingKey, since: toNumber(since), endsAt: end };
}

/** Generations count acts of the owner: none gets near 2^53. */
function toNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError("A generation is too large");
  return Number(value);
}
