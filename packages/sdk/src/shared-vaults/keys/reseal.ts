/** Sealing the keys of a shared vault again, for the key servers that are configured first (encryption design §2, records). */
import { vaultKeysGroup } from "@coffer/contract";
import { type ActWarning, isSealedForWriting, warningsAbout } from "@coffer/chain";
import {
  CryptoError,
  encodePlace,
  findSigner,
  newVaultKeyRecord,
  openVaultKeys,
  parseRecord,
  verifyRecord,
  type Author,
  type VaultKeyRecord,
  type VaultView,
} from "@coffer/crypto";
import { callOn } from "../../http/call.ts";
import { fromBase64, toBase64, toHex } from "../../transfer/digest.ts";
import { SdkError } from "../../http/errors.ts";
import { everyPage, MAX_PAGES_IN_MEMORY, type PageCursor } from "../../http/every-page.ts";
import type { Connection, CallOptions } from "../../connection/options.ts";
import { NOT_RESEALED, RESEALED } from "../effect-texts.ts";
import type { OpenVault } from "../open-vault.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms, toVaultError } from "../vault-terms.ts";
import { requireOpenVault, vaultRegistry } from "../client-vaults.ts";

/** A vault key that could not be sealed again. */
export interface NotResealed {
  /** Generation of the vault that the key belongs to. */
  readonly generation: number;
  /** The id of its present record, in hex. */
  readonly keyId: string;
  /** A code of {@link VaultErrorCode} or of the error catalogue. */
  readonly code: string;
  /** Why, in one sentence. */
  readonly message: string;
}

/** What sealing the keys again has done. */
export interface ResealResult {
  /** Keys that this call sealed again. */
  readonly resealed: number;
  /** Keys that were sealed for those key servers before. */
  readonly already: number;
  /** Keys that could not be sealed again, or are of nobody whom the chain shows. Empty: all are sealed, and the change is complete. */
  readonly failed: readonly NotResealed[];
  /** What this call has done, and what it has not, in words for people. */
  readonly effect: string;
  /** Remarks about the vault; empty if there are none. */
  readonly warnings: readonly ActWarning[];
}

/** How often it reads the list while other members publish records too. */
const ROUNDS = 4;

/**
 * Opens every vault key from the vault's floor on. It publishes each one sealed for the first key servers of the
 * network configuration as well. Files and names stay as they are, and open when the old key servers are gone. Each
 * new record replaces the old one only if that is still current. Safe to repeat, also after a crash: it skips keys
 * that open at those key servers already.
 *
 * What it does not do: copies of the old records stay open to their key servers. A member seals the keys of
 * generations in which its signing key held. `failed` lists the rest, for an older member, or for a rotation.
 * @throws VaultError `signing_key_missing`, `not_a_member`, and the errors of reading the chain.
 */
export async function resealVault(
  connection: Connection,
  vaultId: string,
  options?: CallOptions,
): Promise<ResealResult> {
  const vault = await requireOpenVault(connection, vaultId, options);
  return inVaultTerms(async () => {
    let resealed = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const author = await vault.author();
      const view = await vault.view({ maxAge: 0 });
      const { keys, closed } = await listKeys(connection, vault, view, options);
      const open = await findOpening(connection, view, keys);
      const outdated = keys.filter((key) => !open.has(key));
      const outcomes: Outcome[] = [];
      for (const key of outdated) outcomes.push(await attempt({ connection, vault, view, author, options }, key));
      vault.forgetWritingKey();
      resealed += outcomes.filter((outcome) => outcome === "done").length;
      if (outcomes.includes("moved")) continue;
      const unsealed = outcomes.filter((outcome) => typeof outcome === "object");
      const failed = [...unsealed, ...closed];
      const warnings = warningsAbout(await vaultRegistry(connection).chain.readVault(vault.pin.chainObjectId ?? ""));
      const effect = failed.length === 0 ? RESEALED : NOT_RESEALED;
      return { resealed, already: keys.length - unsealed.length - resealed, failed, effect, warnings };
    }
    throw vaultError("generation_moved", "Other members kept publishing vault keys");
  });
}

/** One vault key: the records of one place with one `check` and maker, newest first, each signed by a member. */
interface ListedKey {
  readonly records: readonly VaultKeyRecord[];
  /** The record to replace. */
  readonly replaced: VaultKeyRecord;
}

async function listKeys(
  connection: Connection,
  { id: vaultId }: OpenVault,
  view: VaultView,
  options?: CallOptions,
): Promise<{ readonly keys: readonly ListedKey[]; readonly closed: readonly NotResealed[] }> {
  const closed: NotResealed[] = [];
  const keys = new Map<string, { records: VaultKeyRecord[]; replaced: VaultKeyRecord }>();
  const { list } = vaultKeysGroup;
  const load = (place: PageCursor) =>
    callOn(connection, list, { params: { vaultId }, query: { limit: 100, ...place } }, options);
  for await (const page of everyPage(list.id, load, MAX_PAGES_IN_MEMORY))
    for (const { record: text, current, keyId, generation } of page.keys) {
      // Nothing below the floor is read any more.
      if (BigInt(generation) < view.floor) continue;
      const record = await readRecord(view, text);
      if (record instanceof CryptoError) {
        closed.push({ generation, keyId, code: record.code, message: record.message });
        continue;
      }
      const name = [encodePlace(record), record.check, record.maker].map(toHex).join(" ");
      const key = keys.get(name) ?? { records: [], replaced: record };
      key.records.push(record);
      keys.set(name, current ? { ...key, replaced: record } : key);
    }
  return { keys: [...keys.values()], closed };
}

/** Why it is not in order by this view: a node that hides a member must not make the change look complete. */
async function readRecord(view: VaultView, text: string): Promise<VaultKeyRecord | CryptoError> {
  try {
    const record = parseRecord(fromBase64(text) ?? new Uint8Array());
    await verifyRecord(view, record);
    return record;
  } catch (error) {
    if (error instanceof CryptoError) return error;
    throw error;
  }
}

/** Records that the key servers for writing open. A record's own claim is not enough: any member may have written it. */
async function findOpening(
  connection: Connection,
  view: VaultView,
  keys: readonly ListedKey[],
): Promise<ReadonlySet<ListedKey>> {
  const registry = vaultRegistry(connection);
  const opening = new Set<ListedKey>();
  const claimed = keys.flatMap((key) =>
    key.records.filter((record) => isFor(registry.chain.network, record)).map((record) => ({ key, record })),
  );
  const isOpen = async (part: typeof claimed): Promise<void> => {
    try {
      const records = part.map(({ record }) => record);
      // Only whether they open matters here.
      for (const { key } of await openVaultKeys(view, records, registry.wrap())) key.dispose();
      for (const { key } of part) opening.add(key);
    } catch (error) {
      // If several were asked for at once, one that does not open hides the others.
      if (!(error instanceof CryptoError)) throw error;
      if (part.length > 1) for (const one of part) await isOpen([one]);
    }
  };
  for (let from = 0; from < claimed.length; from += MOST_AT_ONCE)
    await isOpen(claimed.slice(from, from + MOST_AT_ONCE));
  return opening;
}

/** How many keys one request to a key server may ask for. */
const MOST_AT_ONCE = 100;

function isFor(
  network: Parameters<typeof isSealedForWriting>[1],
  { sealedKey, vault, generation, after, creator }: VaultKeyRecord,
): boolean {
  return isSealedForWriting({ sealedKey, place: { vault, generation, after, creator } }, network);
}

interface Resealing {
  readonly connection: Connection;
  readonly vault: OpenVault;
  readonly view: VaultView;
  readonly author: Author;
  readonly options: CallOptions | undefined;
}

/** `moved`: somebody else has published a record in that place meanwhile. */
type Outcome = "done" | "moved" | NotResealed;

async function attempt(resealing: Resealing, key: ListedKey): Promise<Outcome> {
  try {
    await seal(resealing, key);
    return "done";
  } catch (error) {
    const failure = toVaultError(error);
    if (failure instanceof SdkError && failure.code === "key_exists") return "moved";
    if (!(failure instanceof SdkError) || !LASTING.has(failure.code)) throw failure;
    const { generation, keyId } = key.replaced;
    return { generation: Number(generation), keyId: toHex(keyId), code: failure.code, message: failure.message };
  }
}

async function seal({ connection, vault, view, author, options }: Resealing, { replaced }: ListedKey): Promise<void> {
  const { generation, keyId } = replaced;
  const named = findSigner(view, author.address, replaced);
  if (named === null || toHex(named) !== toHex(author.signer.publicKey))
    throw vaultError(
      "signing_key_missing",
      `This signer's key did not hold in generation ${String(generation)}: an older member can do it, or vaults.rotate`,
    );
  const key = await vault.findKey(replaced);
  const { record } = await newVaultKeyRecord(view, vaultRegistry(connection).wrap(), author, key, replaced);
  const body = { record: toBase64(record.bytes), replaces: toHex(keyId) };
  await callOn(connection, vaultKeysGroup.publish, { params: { vaultId: vault.id }, body }, options);
}

/** Why one key cannot be sealed again, while the others can. */
const LASTING: ReadonlySet<string> = new Set([
  ...["damaged", "wrong_key", "signing_key_missing", "key_servers_unavailable", "network_changed"],
  ...["limit_reached", "statement_invalid"],
]);
