/** Asking the key servers: in batches, again while they are behind, and with the reason when they refuse. */
import type { Transaction } from "@mysten/sui/transactions";
import { toHex } from "@mysten/sui/utils";
import type { ChainError } from "../errors.ts";
import { buildApproval, simulateApproval } from "./approval.ts";
import { readNodeState } from "../node.ts";
import { skewOf } from "../vault-at-node.ts";
import { classifyDenial, type ChainOpinion } from "./denial.ts";
import type { KeyServerGroup } from "./key-server-group.ts";
import type { KeyWrapParts } from "./key-wrap-parts.ts";
import type { CheckedKey } from "./sealed-key.ts";
import { findSessionProblem } from "./key-server-session.ts";

/** What a key server accepts in one request. */
export const MAX_BATCH = 100;
/** The most a key server lets its simulation of a request cost, in MIST (MystenLabs/seal `crates/key-server/src/server.rs`). */
const APPROVAL_BUDGET = 500_000_000n;
/** How long key servers that are behind are asked again, in milliseconds: as far as their nodes may lag. */
const PATIENCE = 120_000;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;

interface Batch {
  readonly keys: readonly CheckedKey[];
  readonly approval: Transaction;
  readonly bytes: Uint8Array;
}

/**
 * One request per key server for each batch of identities. The resulting function decrypts without asking anybody.
 *
 * @throws ChainError when the keys are not given.
 */
export async function fetchUserKeys(
  parts: KeyWrapParts,
  group: KeyServerGroup,
  keys: readonly CheckedKey[],
): Promise<(key: CheckedKey) => Promise<Uint8Array>> {
  const different = [...new Map(keys.map((key) => [idOf(key), key])).values()];
  const batchOf = new Map<string, Batch>();
  for (let start = 0, size = parts.batch; start < different.length;) {
    const batch = await openAffordable(parts, different.slice(start, start + size));
    // The next ones cost as much.
    size = batch.keys.length;
    start += size;
    for (const fetched of await fetchBatch(parts, group, batch))
      for (const key of fetched.keys) batchOf.set(idOf(key), fetched);
  }
  const sessionKey = await parts.sessions.open();
  return async (key) => {
    const batch = batchOf.get(idOf(key));
    if (batch === undefined) throw new TypeError("this key was not asked for");
    // Session and transaction are for missing keys; all keys are here.
    return await group.seal.decrypt({ data: key.sealedKey, sessionKey, txBytes: batch.bytes });
  };
}

function idOf({ identity }: CheckedKey): string {
  return toHex(identity);
}

/** As many of the keys, from the first on, as key servers can answer at once by our own node's simulation; at least one. */
async function openAffordable(parts: KeyWrapParts, keys: readonly CheckedKey[]): Promise<Batch> {
  const batch = await openBatch(parts, keys);
  if (keys.length === 1 || !(await isTooCostly(parts, batch))) return batch;
  return await openAffordable(parts, keys.slice(0, Math.ceil(keys.length / 2)));
}

async function isTooCostly({ client, signer }: KeyWrapParts, { approval }: Batch): Promise<boolean> {
  try {
    const { verdict, cost } = await simulateApproval(client, signer.chainAddress, approval);
    return verdict === "too_costly" || (cost !== null && cost >= APPROVAL_BUDGET);
  } catch {
    // Key servers have nodes of their own.
    return false;
  }
}

async function openBatch(parts: KeyWrapParts, keys: readonly CheckedKey[]): Promise<Batch> {
  const approval = await buildApproval(parts.network.latestPackageId, keys, parts.vaultObjects);
  const bytes = await approval.build({ onlyTransactionKind: true });
  return { keys, approval, bytes };
}

/**
 * The batches in which the keys came. Keys that the chain grants and key servers refuse may be too many at once, which
 * they do not say. The batch is halved down to one key before it waits.
 */
async function fetchBatch(parts: KeyWrapParts, group: KeyServerGroup, batch: Batch): Promise<Batch[]> {
  const deadline = parts.clock() + PATIENCE;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    const denial = await askOnce(parts, group, batch);
    if (denial === null) return [batch];
    if (denial.code !== "key_servers_behind") throw denial;
    const { keys } = batch;
    if (keys.length > 1) {
      const half = Math.ceil(keys.length / 2);
      const first = await fetchBatch(parts, group, await openBatch(parts, keys.slice(0, half)));
      return [...first, ...(await fetchBatch(parts, group, await openBatch(parts, keys.slice(half))))];
    }
    if (parts.clock() + pause > deadline) throw denial;
    await parts.sleep(pause);
  }
}

/** Null when enough key servers gave their keys. */
async function askOnce(parts: KeyWrapParts, group: KeyServerGroup, batch: Batch): Promise<ChainError | null> {
  const sessionKey = await parts.sessions.open();
  group.outcomes.clear();
  try {
    const { keys, bytes: txBytes } = batch;
    await group.seal.fetchKeys({ ids: keys.map(idOf), txBytes, sessionKey, threshold: group.set.threshold });
    return null;
  } catch (cause) {
    const outcomes = new Map([...group.urls].map(([objectId, url]) => [objectId, group.outcomes.of(url)]));
    const denial = classifyDenial({ set: group.set, outcomes, cause }, await askChain(parts, batch.approval));
    // The next call reads the addresses of the key servers again, and has a certificate of its own.
    parts.reads.forget();
    if (denial.code === "clock_skew" || denial.code === "address_alias") parts.sessions.forget();
    // A zkLogin sign-in that has ended is refused in the words of an address with aliases.
    const problem = denial.code === "address_alias" ? await findSessionProblem(sessionKey, parts.client) : null;
    return problem ?? denial;
  }
}

async function askChain(parts: KeyWrapParts, approval: Transaction): Promise<ChainOpinion> {
  try {
    const { verdict } = await simulateApproval(parts.client, parts.signer.chainAddress, approval);
    return { verdict, skew: verdict === "granted" ? null : await findSkew(parts) };
  } catch (error) {
    return { verdict: { failed: error }, skew: null };
  }
}

async function findSkew({ client, clock }: KeyWrapParts): Promise<ChainError | null> {
  return skewOf((await readNodeState({ client })).timestamp, clock());
}
