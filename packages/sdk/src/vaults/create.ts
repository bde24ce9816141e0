/** Making a shared vault: an object on the chain, and a vault at the service that names it. */
import { clientApi as api, type Vault } from "@coffer/contract";
import { createVault, findCreatedVault, type TransactionSigner, type VaultObject } from "@coffer/chain";
import { callOn, type CallOptions } from "../call.ts";
import type { Signer } from "../chain/signer.ts";
import type { Connection } from "../options.ts";
import { inVaultTerms, VaultError } from "./vault-error.ts";
import { untilSeen } from "./service-view.ts";
import type { VaultSession } from "./session.ts";
import { vaultSession } from "./vault-session.ts";

/** Where an unfinished creation is kept, so that a crash between chain and service costs no second vault object. */
export interface CreationJournal {
  /** The transaction of an unfinished creation; null: there is none. `creation` names service, address and vault. */
  load(creation: string): Promise<string | null>;
  /** Durable when it resolves: the transaction is sent only then. null: the creation is finished. */
  save(creation: string, digest: string | null): Promise<void>;
}

export interface NewSharedVault {
  readonly name: string;
  /** Names of files and folders in the clear, for ever; default false. */
  readonly plainNames?: boolean | undefined;
  /** The client's own when absent; without any, a crash between the two steps leaves a vault object that nobody uses. */
  readonly journal?: CreationJournal | undefined;
}

/**
 * The owner is the signer's address, which must be the one linked to the account: that is asked for before anything is signed.
 * @throws VaultError `no_gas`, `chain_unavailable`, `signing_key_missing`; ApiError `address_required`, `chain_object_invalid`, `name_exists`.
 */
export async function createSharedVault(
  connection: Connection,
  { name, plainNames = false, journal = connection.sharedVaults?.creations }: NewSharedVault,
  options?: CallOptions,
): Promise<Vault> {
  const session = vaultSession(connection);
  await requireLinkedAddress(session, options);
  const creation = `${connection.place.origin} ${session.signer.chainAddress} ${name.normalize("NFC")}`;
  const object = await inVaultTerms(() => findOrCreate(session, creation, plainNames, journal));
  const body = { name, type: "shared", chainObjectId: object.objectId } as const;
  const register = () => callOn(connection, api.vaults.create, { body }, options);
  const { vault } = await untilSeen(connection, "chain_object_invalid", options, register);
  if (vault.chainObjectId !== object.objectId)
    throw new VaultError("vault_changed", `The vault is ${object.objectId}, but the service names another object`);
  await session.adopt(vault, session.signer.chainAddress);
  await journal?.save(creation, null);
  return vault;
}

async function requireLinkedAddress({ connection, signer }: VaultSession, options?: CallOptions): Promise<void> {
  const { account } = await callOn(connection, api.account.get, {}, options);
  if (account.chainAddress === signer.chainAddress) return;
  const linked = account.chainAddress === null ? "no chain address" : account.chainAddress;
  throw new VaultError("wrong_chain_key", `The account has ${linked}, and the signer's is ${signer.chainAddress}`, {
    nextStep: "Link the signer's address to the account first, with account.linkChain.",
  });
}

async function findOrCreate(
  session: VaultSession,
  creation: string,
  plainNames: boolean,
  journal: CreationJournal | undefined,
): Promise<VaultObject> {
  const { chain, signer } = session;
  const digest = (await journal?.load(creation)) ?? null;
  const made = digest === null ? null : await findCreatedVault(chain, digest);
  if (made?.owner.chainAddress === signer.chainAddress && made.plainNames === plainNames) return made;
  const vault = { plainNames, ...(signer.statements === undefined ? {} : { signingKey: signer.statements.publicKey }) };
  const beforeSend = journal === undefined ? undefined : (sent: string) => journal.save(creation, sent);
  return (await createVault(chain, sending(signer), vault, { beforeSend })).vault;
}

/** @throws VaultError `wrong_chain_key` for a signer that signs no transactions. */
export function sending(signer: Signer): TransactionSigner {
  if (signer.signTransaction === undefined)
    throw new VaultError("wrong_chain_key", "The signer signs no transactions, which changes on the chain need");
  return {
    chainAddress: signer.chainAddress,
    signPersonalMessage: (bytes) => signer.signPersonalMessage(bytes),
    signTransaction: async (bytes) => {
      const signature = await signer.signTransaction?.(bytes);
      if (signature === undefined) throw new TypeError("the signer lost its signTransaction");
      return signature;
    },
  };
}
