/** One act on a vault: read, refused early, sent once, and read again. */
import type { Chain } from "./chain.ts";
import { ChainError } from "./errors.ts";
import { type ActWarning, execute, type Executed, type ExecutionOptions, inTurn } from "./execution.ts";
import { warningsAbout } from "./vault-room.ts";
import type { TransactionSigner } from "./signer.ts";
import { toTransaction, type VaultCall } from "./vault-functions.ts";
import type { VaultObject } from "./vault-object.ts";

/** The result of an act: `done` by this call, or `already` so before it, without a transaction. */
export interface VaultAct {
  readonly outcome: "done" | "already";
  /** Digest of the transaction; null when there was none. */
  readonly digest: string | null;
  /** The vault after it. */
  readonly vault: VaultObject;
  /** Empty if there are none. */
  readonly warnings: readonly ActWarning[];
}

/**
 * Options of the owner's acts. A transaction that gives a right names the owner's act before it: `last` in the vault
 * object. It is void once the owner has acted since. That helps against a node that holds transactions back, if the
 * caller remembers the ones that it has signed.
 */
export interface OwnerActOptions extends ExecutionOptions {
  /**
   * Called with the `last` that a transaction names which gives a right, before that is sent. It is not sent if it
   * rejects.
   */
  readonly beforeGiving?: ((last: string) => Promise<void>) | undefined;
  /**
   * What an earlier transaction of unknown outcome named, if this one takes its place. At most one of the two is
   * executed. Default: the `last` that the vault shows.
   */
  readonly last?: string | undefined;
  /**
   * What earlier transactions named that gave the right which this act takes away. While {@link mayStillRun one of them
   * may be executed}, the act is sent even if the vault shows nothing that it could take away.
   */
  readonly earlierGrants?: readonly string[] | undefined;
}

/**
 * Whether a transaction that gives a right, and names this `last`, may still be executed. If the vault has another
 * `last`, it was executed or never will be. One node's word does not show that: a witness must show the same.
 */
export function mayStillRun({ network }: Pick<Chain, "network">, vault: VaultObject, last: string): boolean {
  return vault.last === last || !hasWitnesses(network);
}

function hasWitnesses({ witnessUrls = [] }: Chain["network"]): boolean {
  return witnessUrls.length > 0;
}

/** What the functions of the Move module differ in. */
export interface Act {
  /** Whether the vault shows that the act has happened. */
  isDone(vault: VaultObject): boolean;
  /** Refuses, before anything costs gas, every act that the module would refuse. */
  check(vault: VaultObject): void;
  /** The call that gives a right, after the owner's act that it names; null, or absent: the act gives none. */
  give?(vault: VaultObject, last: string): VaultCall | null;
  /** Every other call. */
  call?(vault: VaultObject): VaultCall;
  /** The refusal that means that somebody else was faster with the same act. */
  readonly already?: ChainError["code"];
}

/** How often an act begins anew that was refused before anything was signed: another process acted meanwhile. */
const BEGINNINGS = 3;

/** An act on a vault begins once the one before it has ended: one that gives a right names that one. */
export function runAct(
  chain: Chain,
  signer: TransactionSigner,
  objectId: string,
  options: OwnerActOptions | undefined,
  act: Act,
): Promise<VaultAct> {
  return inTurn(chain, `${signer.chainAddress} ${objectId}`, async () => {
    for (let beginning = 1; ; beginning += 1) {
      const done = await runOnce(chain, signer, objectId, options, act);
      if (!(done instanceof ChainError)) return done;
      if (beginning === BEGINNINGS) throw done;
    }
  });
}

/** An outdated act is returned, if nothing was signed for it and its caller did not choose what it names. */
async function runOnce(
  chain: Chain,
  signer: TransactionSigner,
  objectId: string,
  options: OwnerActOptions = {},
  act: Act,
): Promise<VaultAct | ChainError> {
  const before = await chain.readVault(objectId, { maxAge: 0 });
  const last = options.last ?? before.last;
  const isDone = act.isDone(before);
  if (isDone && !mustTake(chain, before, options, act)) return already(before);
  act.check(before);
  const granting = act.give?.(before, last) ?? null;
  const call = granting ?? act.call?.(before);
  if (call === undefined) throw new TypeError("an act is a call");
  const transact = () => toTransaction(call, chain.network.latestPackageId);
  let isSigned = false;
  const beforeSend: ExecutionOptions["beforeSend"] = async (...sent) => {
    isSigned = true;
    if (granting !== null) await options.beforeGiving?.(last);
    await options.beforeSend?.(...sent);
  };
  try {
    const executed = await execute(chain, signer, transact, { beforeSend });
    const vault = await readAfter(chain, before, executed, act);
    return {
      outcome: "done",
      digest: executed.digest,
      vault,
      warnings: [...executed.warnings, ...warningsAbout(vault)],
    };
  } catch (cause) {
    if (!(cause instanceof ChainError) || !(cause.code === act.already || cause.code === "act_outdated")) throw cause;
    const vault = await chain.readVault(objectId, { maxAge: 0 });
    if (act.isDone(vault)) return already(vault);
    if (cause.code === "act_outdated" && !isSigned && options.last === undefined) return cause;
    throw cause;
  }
}

/** The vault shows nothing to take away, and a transaction that gives it may still be executed. */
function mustTake(chain: Chain, vault: VaultObject, { earlierGrants = [] }: OwnerActOptions, act: Act): boolean {
  const isTaking = act.call !== undefined && (act.give?.(vault, vault.last) ?? null) === null;
  return isTaking && earlierGrants.some((last) => mayStillRun(chain, vault, last));
}

function already(vault: VaultObject): VaultAct {
  return { outcome: "already", digest: null, vault, warnings: warningsAbout(vault) };
}

/**
 * The vault as the transaction left it, or later. It is never an answer from before it, even if the node names no
 * version or too low a one. Only the node's word shows that the act happened; with witnesses, theirs does.
 */
async function readAfter(chain: Chain, before: VaultObject, executed: Executed, act: Act): Promise<VaultObject> {
  const change = executed.effects.changedObjects.find((changed) => changed.objectId === before.objectId);
  const [named, next] = [BigInt(change?.outputVersion ?? 0), before.version + 1n];
  const vault = await chain.readVault(before.objectId, { maxAge: 0, minVersion: named > next ? named : next });
  if (hasWitnesses(chain.network) && !act.isDone(vault)) throw new ChainError("transaction_unknown");
  return vault;
}
