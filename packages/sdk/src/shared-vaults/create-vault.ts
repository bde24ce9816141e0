/** Making a shared vault: an object on the chain, and a vault at the service that names it. */
import { accountGroup, vaultsGroup } from "@coffer/contract";
import {
  type ActWarning,
  createVault,
  encodeCreation,
  resumeCreation,
  type TransactionSigner,
  type VaultObject,
  type NewVaultFacts,
} from "@coffer/chain";
import { callOn } from "../http/call.ts";
import { chosenName } from "../http/chosen-name.ts";
import type { Signer } from "../signers/signer.ts";
import { toHex } from "../transfer/digest.ts";
import { ApiError } from "../http/errors.ts";
import { everyPage, MAX_PAGES_IN_MEMORY, type PageCursor } from "../http/every-page.ts";
import type { Connection, CallOptions } from "../connection/options.ts";
import type { Vault } from "@coffer/contract";
import { vaultError } from "./vault-error.ts";
import { inVaultTerms } from "./vault-terms.ts";
import { untilSeen } from "./service-view.ts";
import type { VaultRegistry } from "./vault-registry.ts";
import { vaultRegistry } from "./client-vaults.ts";
import type { CreationJournal } from "../transfer/journals.ts";

/** A new shared vault. */
export interface NewSharedVault {
  /** Name: at most 255 bytes of UTF-8. */
  readonly name: string;
  /** Names of files and folders are never encrypted. Default: false. */
  readonly plainNames?: boolean | undefined;
  /** The unfinished creations. Default: the client's own. Without any, a crash between the two steps leaves an unused vault object. */
  readonly journal?: CreationJournal | undefined;
}

/** A new vault, and what making it has shown. */
export interface CreatedVault extends Vault {
  /** Remarks about the act on the chain; empty if there are none, and for a public vault. */
  readonly warnings: readonly ActWarning[];
}

/**
 * The owner is the signer's address, which must be the one linked to the account. This is checked before anything is
 * signed. After a failure at any point, and in two processes at once, repeat the call with the same journal. It ends
 * with one object and one vault.
 * @throws VaultError `no_gas`, `chain_unavailable`, `signing_key_missing`; ApiError `address_required`,
 * `chain_object_invalid`, `name_exists`.
 */
export async function createSharedVault(
  connection: Connection,
  { name, plainNames = false, journal = connection.sharedVaults?.creations }: NewSharedVault,
  options?: CallOptions,
): Promise<CreatedVault> {
  // Checked before paying for an object that no vault could name.
  const stored = chosenName(vaultsGroup.create.id, name);
  const registry = vaultRegistry(connection);
  await requireLinkedAddress(registry, options);
  const creation = openCreation(registry, stored, journal);
  const { object, warnings } = await inVaultTerms(() => findOrCreate(registry, creation, plainNames));
  const vault = await register(connection, name, object, options);
  if (vault.chainObjectId !== object.objectId)
    throw vaultError("vault_changed", `The vault is ${object.objectId}, but the service names another object`);
  await registry.pinFirst(vault, registry.signer.chainAddress);
  await creation.finish();
  return { ...vault, warnings };
}

async function requireLinkedAddress({ connection, signer }: VaultRegistry, options?: CallOptions): Promise<void> {
  const { account } = await callOn(connection, accountGroup.get, {}, options);
  if (account.chainAddress === signer.chainAddress) return;
  const linked = account.chainAddress === null ? "no chain address" : account.chainAddress;
  throw vaultError("wrong_chain_key", `The account has ${linked}, and the signer's is ${signer.chainAddress}`, {
    nextStep: "Link the signer's address to the account first, with account.linkChain.",
  });
}

/** One creation in its journal; without one it remembers nothing. */
interface Creation {
  readonly vaultName: string;
  load(): Promise<string | null>;
  /** False: another process keeps something else. */
  save(record: string): Promise<boolean>;
  finish(): Promise<void>;
}

function openCreation(
  { connection, signer }: VaultRegistry,
  vaultName: string,
  journal: CreationJournal | undefined,
): Creation {
  const name = `${connection.service.origin} ${signer.chainAddress} ${vaultName}`;
  let saved: string | null = null;
  return {
    vaultName,
    load: async () => (saved = (await journal?.load(name)) ?? null),
    save: async (kept) => {
      if (journal !== undefined && !(await journal.replace(name, saved, kept))) return false;
      saved = kept;
      return true;
    },
    // A record that another process has begun since is its own.
    finish: async () => {
      await journal?.replace(name, saved, null);
    },
  };
}

/** How often another process may come first: it keeps its transaction before it sends it, so that the next look finds it. */
const ATTEMPTS = 5;

interface CreatedObject extends Pick<CreatedVault, "warnings"> {
  readonly object: VaultObject;
}

async function findOrCreate(registry: VaultRegistry, creation: Creation, plainNames: boolean): Promise<CreatedObject> {
  const { chain, signer } = registry;
  const vault = { plainNames, ...(signer.statements === undefined ? {} : { signingKey: signer.statements.publicKey }) };
  for (let look = 1; ; look += 1) {
    const saved = await creation.load();
    const object = saved === null ? null : await resumeCreation(chain, signer.chainAddress, vault, saved);
    if (object !== null) return { object, warnings: [] };
    if ((await findNamed(registry, creation)) !== null) throw nameExists();
    try {
      return await create(registry, creation, vault);
    } catch (error) {
      if (!(error instanceof OtherCreation) || look >= ATTEMPTS) throw error;
      if (error.vault === null) continue;
      const objectId = error.vault.chainObjectId;
      const object = objectId === null ? null : await chain.readVault(objectId);
      if (object !== null && isNew(object, signer.chainAddress, vault)) return { object, warnings: [] };
      throw nameExists();
    }
  }
}

/** Another process works on the same creation. Send its transaction, or use its vault once it has made that. */
class OtherCreation extends Error {
  readonly vault: Vault | null;

  constructor(vault: Vault | null) {
    super("another process creates the vault");
    this.vault = vault;
  }
}

async function create(registry: VaultRegistry, creation: Creation, vault: NewVaultFacts): Promise<CreatedObject> {
  const { chain, signer } = registry;
  const created = await createVault(chain, transactionSigner(signer), vault, {
    beforeSend: async (_digest, signed) => {
      if (!(await creation.save(encodeCreation(signed)))) throw new OtherCreation(null);
      // Another process may have kept its transaction, made its vault and tidied up since the first look.
      const existing = await findNamed(registry, creation);
      if (existing === null) return;
      await creation.finish();
      throw new OtherCreation(existing);
    },
  });
  return { object: created.vault, warnings: created.warnings };
}

/** Only its owner has ever been able to read it. Whatever the service calls it, it is as good as a new one. */
function isNew(object: VaultObject, chainAddress: string, { plainNames, signingKey }: NewVaultFacts): boolean {
  const { owner, members, former, offered, generation } = object;
  const isUntouched = generation === 1n && members.length === 0 && former.length === 0 && offered === null;
  const isWanted =
    object.plainNames === plainNames && toHex(owner.signingKey) === toHex(signingKey ?? new Uint8Array());
  return isUntouched && isWanted && owner.chainAddress === chainAddress;
}

/** Finds the vault that an earlier attempt, whose answer was lost, has registered, by its object. */
async function register(
  connection: Connection,
  name: string,
  { objectId }: VaultObject,
  options: CallOptions | undefined,
): Promise<Vault> {
  const body = { name, type: "shared", chainObjectId: objectId } as const;
  const send = () => callOn(connection, vaultsGroup.create, { body }, options);
  try {
    return (await untilSeen(connection, "chain_object_invalid", options, send)).vault;
  } catch (error) {
    if (!(error instanceof ApiError) || !(error.code === "name_exists" || error.code === "chain_object_taken"))
      throw error;
    const registered = await findVault(connection, ({ chainObjectId }) => chainObjectId === objectId, options);
    if (registered === null) throw error;
    return registered;
  }
}

/** Checked before paying for an object that no vault could name. */
function findNamed({ connection }: VaultRegistry, { vaultName }: Creation): Promise<Vault | null> {
  return findVault(connection, ({ name }) => name === vaultName);
}

function nameExists(): ApiError {
  const nextStep = "Choose another name, or use that vault.";
  const facts = { status: 409, requestId: null, retryAfterMs: null, retryable: false, nextStep };
  return new ApiError("name_exists", "The account has a vault of that name", facts);
}

async function findVault(
  connection: Connection,
  isWanted: (vault: Vault) => boolean,
  options?: CallOptions,
): Promise<Vault | null> {
  const { list } = vaultsGroup;
  const load = (place: PageCursor) => callOn(connection, list, { query: { limit: 1000, ...place } }, options);
  for await (const { vaults } of everyPage(list.id, load, MAX_PAGES_IN_MEMORY)) {
    const match = vaults.find(isWanted);
    if (match !== undefined) return match;
  }
  return null;
}

/** @throws VaultError `wrong_chain_key` for a signer that signs no transactions. */
export function transactionSigner(signer: Signer): TransactionSigner {
  if (signer.signTransaction === undefined)
    throw vaultError("wrong_chain_key", "The signer signs no transactions, which changes on the chain need");
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
