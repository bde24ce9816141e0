/**
 * What a chain address signs to prove that its holder is there (specification §5.7, §5.8; encryption design §4). The
 * client builds these texts itself and signs them as a Sui personal message: it never signs a text that a service
 * made. The text holds every field that could move a signature elsewhere: the service's origin, the chain, and the
 * account, key or vault it is for.
 */
import type { DeletionAct } from "./deletion.ts";
import type { ChainNetwork } from "./proofs.ts";

interface ProofContext {
  /** The service's scheme, host and port, as in `new URL(baseUrl).origin`. */
  readonly origin: string;
  readonly network: ChainNetwork;
  readonly chainAddress: string;
}

/** `codeHash`: SHA-256 of the code in hex. `signedAt`: RFC 3339 in UTC with milliseconds, the same text as in the request. */
export function renderRedeemText(
  claim: ProofContext & { readonly codeHash: string; readonly signedAt: string },
): string {
  return render("Coffer redeem v1", claim, { code: claim.codeHash, time: claim.signedAt });
}

/** `nonce`: from `POST /api/account/link-chain/challenge`. */
export function renderLinkText(claim: ProofContext & { readonly accountId: string; readonly nonce: string }): string {
  return render("Coffer link address v1", claim, { account: claim.accountId, nonce: claim.nonce });
}

/** For an API key that is bound to an address. `signedAt`: RFC 3339 in UTC with milliseconds, the same text as in the request. */
export function renderKeyAddressText(
  claim: ProofContext & { readonly accountId: string; readonly signedAt: string },
): string {
  return render("Coffer key address v1", claim, { account: claim.accountId, time: claim.signedAt });
}

/** One title for each act: a signature for one of them never fits another. */
const DELETION_TITLES: Readonly<Record<DeletionAct, string>> = {
  "delete-vault": "Coffer delete vault v1",
  "purge-vault": "Coffer purge vault v1",
  "delete-file": "Coffer delete file v1",
  "delete-version": "Coffer delete version v1",
  "empty-trash": "Coffer empty trash v1",
  "shorten-retention": "Coffer shorten retention v1",
};

/** The subject of a deletion. `fileId`: for `delete-file` and `delete-version`. `versionId`: for the latter. */
export interface DeletionOf {
  readonly act: DeletionAct;
  readonly vaultId: string;
  readonly fileId?: string | undefined;
  readonly versionId?: string | undefined;
}

/**
 * For acts that destroy content of a shared vault. `chainObjectId`: the vault object's id, from the client's pin.
 * `nonce`: from `POST /api/vaults/{vaultId}/deletion-challenge`, and the only part that the service chooses.
 */
export function renderDeletionText({
  act,
  accountId,
  chainObjectId,
  vaultId,
  fileId,
  versionId,
  nonce,
  ...context
}: ProofContext &
  DeletionOf & { readonly accountId: string; readonly chainObjectId: string; readonly nonce: string }): string {
  const object = { account: accountId, object: chainObjectId, vault: vaultId };
  const file = {
    ...(fileId === undefined ? {} : { file: fileId }),
    ...(versionId === undefined ? {} : { version: versionId }),
  };
  return render(DELETION_TITLES[act], context, { ...object, ...file, nonce });
}

/** What a field may hold: printable ASCII without spaces. A nonce with a line break could add fields to what is signed. */
const FIELD = /^[\x21-\x7e]{1,512}$/;

/** Throws RangeError for a field that could be read as more than one. */
function render(title: string, { origin, network, chainAddress }: ProofContext, more: Record<string, string>): string {
  const fields: Record<string, string> = { origin, chain: `sui:${network}`, address: chainAddress, ...more };
  const lines = Object.entries(fields).map(([name, value]) => {
    if (!FIELD.test(value)) throw new RangeError(`the ${name} cannot be in a text that is signed`);
    return `${name}: ${value}`;
  });
  return [title, ...lines].join("\n");
}
