/**
 * Changes in shared vaults need the chain's word, and a transaction must not wait for the chain. So the work runs and
 * finds out in its transaction which vault it is about. Without a permit it is rolled back, the chain is asked, and it
 * runs again. In a public vault nothing is asked and nothing runs twice.
 */
import type { Deps } from "../../deps.ts";
import type { Principal } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { requireMember, requireWriter, type SeenVault, type Writer } from "./access.ts";
import { FRESHNESS } from "./freshness.ts";
import type { Place } from "./places.ts";

type ChainDeps = Pick<Deps, "database" | "chain" | "clock">;

/** What one request has been allowed so far. */
export interface Permits {
  /** Content and unsigned changes; null: a public vault of the caller's own account, where its credential is enough. */
  use(vault: SeenVault | null): void;
  /** Signed changes, whose statements name the place. Throws `generation_moved` when its generation is known to be over. */
  write(vault: SeenVault, place: Place): Writer;
}

/** A permit to write that work is known to need: asked for first, so that nothing has to run twice. */
export interface ExpectedWrite {
  readonly vault: SeenVault;
  readonly place: Place;
}

/**
 * Runs `work`, again after each permit that it lacked.
 * @throws ServiceError what {@link requireMember} and {@link requireWriter} refuse with.
 */
export async function withPermits<Result>(
  deps: ChainDeps,
  principal: Principal,
  work: (permits: Permits) => Promise<Result>,
  expected: ExpectedWrite | null = null,
): Promise<Result> {
  const held = new HeldPermits();
  // A refusal is said where the work meets it, behind what it would say first.
  if (expected !== null) await held.ask(deps, principal, expected).catch(ignoreRefusal);
  // One permit to use and one to write; a second vault cannot come in between, because nothing changes its vault.
  for (let attempts = 3; ; attempts -= 1) {
    try {
      return await work(held);
    } catch (error) {
      if (!(error instanceof PermitNeeded) || attempts === 0) throw error;
      await held.ask(deps, principal, error);
    }
  }
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof ServiceError)) throw error;
}

/** Ends the transaction that met the vault; never leaves {@link withPermits}. */
class PermitNeeded extends Error {
  override readonly name = "PermitNeeded";
  readonly vault: SeenVault;
  /** null: to use, not to write. */
  readonly place: Place | null;
  constructor(vault: SeenVault, place: Place | null) {
    super("the chain must be asked first");
    this.vault = vault;
    this.place = place;
  }
}

class HeldPermits implements Permits {
  #usable: string | null = null;
  #writer: { readonly vaultId: string; readonly writer: Writer } | null = null;

  use(vault: SeenVault | null): void {
    if (vault === null || vault.standing === "owner" || this.#usable === vault.id) return;
    throw new PermitNeeded(vault, null);
  }

  write(vault: SeenVault, place: Place): Writer {
    if ((vault.chain_generation ?? 0) > place.generation) throw new ServiceError("generation_moved");
    if (this.#writer?.vaultId !== vault.id) throw new PermitNeeded(vault, place);
    return this.#writer.writer;
  }

  async ask(
    deps: ChainDeps,
    principal: Principal,
    { vault, place }: Pick<PermitNeeded, "vault" | "place">,
  ): Promise<void> {
    if (place === null) {
      await requireMember(deps, principal, vault);
      this.#usable = vault.id;
      return;
    }
    const writer = await requireWriter(deps, principal, vault, { place, maxAge: FRESHNESS.committing });
    this.#writer = { vaultId: vault.id, writer };
    // Writers may also use.
    this.#usable = vault.id;
  }
}
