/** Accepts one node's view of a vault when the witnesses show the same: a liar would need all of them (decision 0023). */
import { ChainError } from "./errors.ts";
import type { Node } from "./node.ts";
import type { Pins } from "./pins.ts";
import { findVaultAt, type Sighting } from "./vault-at-node.ts";
import type { VaultObject } from "./vault-object.ts";

/** A node, and its pins. */
export interface Source {
  readonly node: Node;
  readonly pins: Pins;
}

/** A node that is behind is asked again after these milliseconds: 35 s together, more than a node may lag (`LAG_MS`). */
const PAUSES = [300, 700, 1500, 2500, 5000, 5000, 5000, 5000, 5000, 5000];
/**
 * A node may show a change before the checkpoint that holds it. One whose newest checkpoint is that many milliseconds younger than the
 * other's answer has every change that the other had.
 */
const SETTLED_MS = 2000;

interface View extends Sighting {
  readonly source: Source;
  /** By the node's time or the machine's, whichever is later. */
  readonly seenAt: number;
}

/**
 * The vault as all nodes show it: the same bytes in the same version. Without witnesses, one read of the first node.
 * @throws ChainError `chain_disagrees` with the hosts of two nodes; `vault_not_found`; `chain_stale` for a node that
 * stays behind.
 * @throws the errors of reading from a node. A witness's error names the witness: a read without it does not count.
 */
export async function readAgreed(first: Source, witnesses: readonly Source[], objectId: string): Promise<VaultObject> {
  const ask = (source: Source): Promise<View> => readView(source, objectId, source !== first);
  const sources = [first, ...witnesses];
  let views = await requireAll(sources, sources.map(ask));
  for (const pause of [...PAUSES, null]) {
    const newest = findNewest(views);
    const behind = views.filter((view) => versionOf(view) < versionOf(newest));
    for (const view of views) if (contradicts(view, newest)) throw disagreement(view, newest);
    const [slowest] = behind;
    if (slowest === undefined) return requireVault(views);
    if (pause === null) throw stillBehind(slowest, newest);
    await first.node.wait(pause);
    views = await Promise.all(views.map((view) => (behind.includes(view) ? ask(view.source) : Promise.resolve(view))));
  }
  throw new ChainError("chain_stale");
}

/** One node's time does not show whose clock is wrong. If a second node agrees with this machine, the first node's is. */
async function requireAll(sources: readonly Source[], views: readonly Promise<View>[]): Promise<View[]> {
  try {
    return await Promise.all(views);
  } catch (error) {
    const outcomes = await Promise.allSettled(views);
    const isSkewed = (reason: unknown): boolean => reason instanceof ChainError && reason.code === "clock_skew";
    const wrong = sources.find((_, at) => outcomes[at]?.status === "rejected" && isSkewed(outcomes[at].reason));
    if (wrong === undefined || !outcomes.some(({ status }) => status === "fulfilled")) throw error;
    throw new ChainError("chain_stale", {
      message: `The time of the chain node ${hostOf(wrong)} is wrong: another node's agrees with this machine's clock. Name another node in its place.`,
      cause: error,
    });
  }
}

async function readView(source: Source, objectId: string, isWitness: boolean): Promise<View> {
  const { node, pins } = source;
  try {
    const finding = findVaultAt(node, pins, objectId);
    // An answer of another network counts for nothing, whatever it is.
    finding.catch(() => undefined);
    await pins.verify();
    const sighting = await finding;
    return { ...sighting, source, seenAt: Math.max(sighting.asOf, node.clock()) };
  } catch (cause) {
    if (!isWitness || !(cause instanceof ChainError)) throw cause;
    throw new ChainError(cause.code, { message: `Witness ${hostOf(source)}: ${cause.message}`, cause });
  }
}

function findNewest([head, ...rest]: readonly View[]): View {
  if (head === undefined) throw new TypeError("somebody was asked");
  return rest.reduce((newest, view) => (versionOf(view) > versionOf(newest) ? view : newest), head);
}

/** Objects begin at a version above zero. */
function versionOf({ vault }: View): bigint {
  return vault?.version ?? 0n;
}

/** Different in one version, or older although it has seen everything that the newest one had: then it is no lag. */
function contradicts(view: View, newest: View): boolean {
  if (versionOf(view) < versionOf(newest)) return view.asOf > newest.seenAt + SETTLED_MS;
  return (
    view.vault?.initialSharedVersion !== newest.vault?.initialSharedVersion ||
    view.content.length !== newest.content.length ||
    view.content.some((byte, at) => byte !== newest.content[at])
  );
}

/** The first node's work, whose answer the others share. */
function requireVault([view]: readonly View[]): VaultObject {
  if (view?.vault === undefined || view.vault === null) throw new ChainError("vault_not_found");
  return view.vault;
}

/** Its host and port: no path and no query, which may hold an operator's key. */
function hostOf({ node }: Source): string {
  return new URL(node.network.grpcUrl).host;
}

function disagreement(one: View, other: View): ChainError {
  return new ChainError("chain_disagrees", {
    message: `The chain nodes ${hostOf(one.source)} and ${hostOf(other.source)} show different states of the vault: one of them lies or is broken. Neither was believed; find out which one from somebody else's node, and name another in its place.`,
  });
}

function stillBehind(slow: View, newest: View): ChainError {
  return new ChainError("chain_stale", {
    message: `The chain node ${hostOf(slow.source)} still does not show what ${hostOf(newest.source)} shows of the vault. Try again, or name another node in place of one of them.`,
  });
}
