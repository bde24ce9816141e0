/**
 * The right to destroy the content of a vault (decision 0030). Code that destroys needs a grant, and only this module
 * makes grants. No call goes around the proof of a shared vault's owner.
 */
import { type DeletionAct, type DeletionOf, renderDeletionText } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { Principal, RequestContext } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { requireChallengeProof } from "../chain-proofs/challenges.ts";
import { requireServiceOrigin } from "../chain-proofs/rules.ts";
import { requireShared, type SeenVault } from "../reach/access.ts";
import { readChainVault } from "../reach/chain-vaults.ts";

class Grant {
  /** null: public vaults, where the caller's credential is enough. */
  readonly #vaultId: string | null;
  constructor(vaultId: string | null) {
    this.#vaultId = vaultId;
  }

  /** Throws when it is not for the vault: a fault of this server, and never an answer. */
  requireFor({ vaultId, isShared }: { readonly vaultId: string; readonly isShared: boolean }): void {
    if (isShared && this.#vaultId !== vaultId)
      throw new Error(`nothing allows to destroy what lies in vault ${vaultId}`);
  }
}

export type DeletionGrant = Grant;

/** For what ends by time, or by the operator: nobody's request. */
export function grantByService(vaultId: string): DeletionGrant {
  return new Grant(vaultId);
}

/** In public vaults no proof is asked for. */
export const PUBLIC_GRANT: DeletionGrant = new Grant(null);

/** What a deletion challenge is for. */
export function purposeOf({ act, vaultId, fileId = "", versionId = "" }: DeletionOf): string {
  return [act, vaultId, fileId, versionId].join(" ");
}

export type ProofDeps = Pick<Deps, "database" | "clock" | "chain" | "settings" | "signatures">;

export interface WantedDeletion {
  readonly act: DeletionAct;
  readonly fileId?: string;
  readonly versionId?: string;
  /** The header `Coffer-Proof`. */
  readonly proof: string | undefined;
}

/** Makes the grant for the vault that a transaction has met; null: a public vault of the caller's own account. */
export type GrantFor = (vault: SeenVault | null) => DeletionGrant;

/**
 * Runs `work`, which asks for its grant in its transaction. For a shared vault that is rolled back, the owner's proof is checked (which waits
 * for the chain), and it runs again.
 * @throws ServiceError `owner_proof_required`, `token_invalid`, `signature_invalid`, `not_configured`, `chain_unavailable`, `clock_skew`.
 */
export async function withOwnerProof<Result>(
  deps: ProofDeps,
  context: RequestContext<Principal>,
  wanted: WantedDeletion,
  work: (grantFor: GrantFor) => Promise<Result>,
): Promise<Result> {
  let proven: { readonly vaultId: string; readonly owner: string } | null = null;
  const grantFor: GrantFor = (vault) => {
    if (vault?.type !== "shared") return PUBLIC_GRANT;
    if (proven?.vaultId !== vault.id) throw new ProofNeeded(vault);
    if (proven.owner !== vault.owner_address) {
      throw new ServiceError("signature_invalid", "The vault has another owner by now");
    }
    return new Grant(vault.id);
  };
  try {
    return await work(grantFor);
  } catch (error) {
    if (!(error instanceof ProofNeeded)) throw error;
    proven = { vaultId: error.vault.id, owner: await proveOwner(deps, context, error.vault, wanted) };
  }
  // A revocation of the caller may have come while the chain was asked (decisions §4, "in-flight on revoke").
  await context.recheck();
  return work(grantFor);
}

/** Ends the transaction that met the vault; never leaves {@link withOwnerProof}. */
class ProofNeeded extends Error {
  override readonly name = "ProofNeeded";
  readonly vault: SeenVault;
  constructor(vault: SeenVault) {
    super("the owner must prove to be there");
    this.vault = vault;
  }
}

/** The address that owns the vault on the chain now, and signed. */
async function proveOwner(
  deps: ProofDeps,
  { principal, serviceOrigin }: RequestContext<Principal>,
  vault: SeenVault,
  { act, fileId, versionId, proof }: WantedDeletion,
): Promise<string> {
  requireShared(vault);
  if (proof === undefined) throw new ServiceError("owner_proof_required");
  const origin = requireServiceOrigin(serviceOrigin);
  const [nonce = "", signature = ""] = proof.split(".");
  const deletion = { act, vaultId: vault.id, fileId, versionId };
  let owner = "";
  await requireChallengeProof(deps, principal, {
    purpose: purposeOf(deletion),
    nonce,
    proof: async () => {
      owner = (await readChainVault(deps, vault, { maxAge: 0 })).owner.address;
      const place = { origin, network: deps.settings.network, chainAddress: owner };
      const whose = { accountId: principal.accountId, chainObjectId: vault.chain_object_id };
      return { chainAddress: owner, signature, text: renderDeletionText({ ...place, ...whose, ...deletion, nonce }) };
    },
  });
  return owner;
}
