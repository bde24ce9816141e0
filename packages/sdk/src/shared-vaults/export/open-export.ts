/** Opening an export of a shared vault: with the chain, the key servers and a member's key, and without the service. */
import { openChain, toVaultView, type Chain, type ReadOptions, type VaultObject } from "@coffer/chain";
import {
  EXPORT_STATEMENT_BYTES,
  isMemberIn,
  parseExportStatement,
  placeOf,
  verifyExportStatement,
  webPlatform,
  type CryptoPlatform,
  type VaultView,
} from "@coffer/crypto";
import { toHex } from "../../transfer/digest.ts";
import { requireNetwork } from "../../connection/network-option.ts";
import type { SharedVaultOptions } from "../../connection/options.ts";
import { bytesOf } from "../addresses.ts";
import { CheckedItems } from "./checked-items.ts";
import { digestItems } from "./export-items.ts";
import { ExportKeys } from "./export-keys.ts";
import {
  damagedExport,
  filePath,
  manifest as manifestShape,
  MANIFEST,
  MAX_MANIFEST,
  parseDocument,
  readWhole,
  STATEMENT,
  type ExportStore,
  type Manifest,
} from "./export-layout.ts";
import { StoredExport, type Exporter, type OpenedExport } from "./opened-export.ts";
import type { OpenVault } from "../open-vault.ts";
import { rememberSeen, seenBy } from "../trust/seen-memory.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms } from "../vault-terms.ts";

export interface OpenExportOptions extends Omit<SharedVaultOptions, "pins" | "seen"> {
  /** The vault's chain object, if you have its id: an export of another vault is refused. Default: any vault. */
  readonly vaultObjectId?: string | undefined;
  /**
   * Accept files below the vault's floor, too: an export that is older than the last rotation. Members removed before
   * it could have signed such files, if they could write to the export. Default: false.
   */
  readonly acceptBelowFloor?: boolean | undefined;
  /**
   * Accept an export that nobody signed: its exporter had no signing key, or somebody took the signature away. A
   * member signed each of its files all the same. But anyone who could write to the export may have left files out, or
   * put older ones in. Default: false.
   */
  readonly allowUnsigned?: boolean | undefined;
}

/**
 * Reads the vault object on the chain of `network`, never behind the generation of the export. It compares the
 * export's statement, and every statement in it, with that. A later read gives only bytes that were checked now,
 * whoever changes the export meanwhile: it refuses others as `damaged`. Anyone who can write to an export can take it
 * away, or put a whole older one in its place. Reading refuses any other change. You trust the exporter about what
 * there was. `exportedBy` and `createdAt` name the exporter and the time, and `exporterIsMember` says whether the
 * vault still names that address.
 * @throws SdkError `configuration` for a network that was not parsed.
 * @throws VaultError `export_unsigned`, and the errors of reading the chain.
 * @throws VaultError `damaged` for an export that is not finished or not whole, `vault_changed` for another network or
 * vault.
 * @throws VaultError `rolled_back` for an export from before the last rotation.
 */
export async function openExport(store: ExportStore, options: OpenExportOptions): Promise<OpenedExport> {
  requireNetwork(options.network);
  return inVaultTerms(async () => {
    const manifest = await readWhole(store, MANIFEST, MAX_MANIFEST);
    if (manifest === null) throw damagedExport(`${MANIFEST} is missing`);
    const facts = parseDocument(manifest, MANIFEST, manifestShape);
    requirePlace(facts, options);
    const statement = await readStatement(store, options);
    const { network, fetch, clock = Date.now, platform = webPlatform } = options;
    const chain = openChain(network, { fetch, clock });
    const read = (readOptions?: ReadOptions) => readVault(chain, facts, options, readOptions);
    const exporter = statement === null ? null : await verifyStatement(read, facts, manifest, statement);
    const items = await checkItems(store, facts);
    // What the exporter says was there cannot be from later than the statement.
    const upTo = exporter === null ? {} : { upTo: exporter.place };
    const readThen = async (readOptions?: ReadOptions) => ({ ...(await read(readOptions)), ...upTo });
    const keys = new ExportKeys(items, chain, options, readThen);
    return new StoredExport(facts, exporter, {
      store,
      items,
      opened: openOffline(facts, platform, readThen, keys),
      closeKeys: () => {
        keys.close();
      },
    });
  }, NEXT_STEPS);
}

const NEXT_STEPS = {
  rolled_back:
    "The export is from before the vault's last rotation, or the chain node is behind. Take a newer export, or open it with acceptBelowFloor.",
};

/** null: there is none, and the caller accepts that. */
async function readStatement(
  store: ExportStore,
  { allowUnsigned = false }: OpenExportOptions,
): Promise<Uint8Array | null> {
  const statement = await readWhole(store, STATEMENT, EXPORT_STATEMENT_BYTES);
  if (statement === null && !allowUnsigned)
    throw vaultError("export_unsigned", "Nobody has signed that the export is whole");
  return statement;
}

/** Returns who exported it, and at which place of the vault. */
async function verifyStatement(
  read: (options: ReadOptions) => Promise<VaultView>,
  { createdAt, vault: { objectId, generation } }: Manifest,
  manifest: Uint8Array,
  bytes: Uint8Array,
): Promise<Exporter> {
  // A node that has not come to an end yet is early, and the export is not forged.
  const view = await read({ hintedTime: parseExportStatement(bytes).after });
  const statement = await verifyExportStatement({ vault: bytesOf(objectId), view }, manifest, bytes);
  if (statement.time !== createdAt || String(statement.generation) !== generation)
    throw damagedExport("its statement is of another time or generation than its manifest");
  const { after, signer } = statement;
  const place = { generation: statement.generation, after };
  return { address: `0x${toHex(signer)}`, isMember: isMemberIn(view, signer, placeOf(view)), place };
}

function requirePlace(facts: Manifest, { network, vaultObjectId }: OpenExportOptions): void {
  const { chainId, originalPackageId } = facts.network;
  if (chainId !== network.chainId || originalPackageId !== network.originalPackageId)
    throw vaultError("vault_changed", `The export is of chain ${chainId}, and chain ${network.chainId} is configured`);
  if (vaultObjectId !== undefined && vaultObjectId !== facts.vault.objectId)
    throw vaultError("vault_changed", `The export is of vault ${facts.vault.objectId}, not of ${vaultObjectId}`);
}

/** Every item of the export, and nothing else. */
async function checkItems(store: ExportStore, { files, folders, records, items }: Manifest): Promise<CheckedItems> {
  const checked = new CheckedItems(store);
  const digest = await digestItems(store, { files, folders, records }, (folder, id, digest) => {
    checked.add(folder, id, digest);
  });
  let contents = 0;
  for await (const name of store.list("content")) {
    const id = /^([0-9a-f-]{36})\.file$/.exec(name)?.[1];
    contents += id !== undefined && (await store.size(filePath(id))) !== null ? 1 : Number.NaN;
  }
  if (digest.items !== items || contents !== files)
    throw damagedExport("its files are not those of its manifest: one was taken away, added, or exchanged");
  return checked;
}

async function readVault(
  chain: Chain,
  { vault }: Manifest,
  { acceptBelowFloor = false }: OpenExportOptions,
  read?: ReadOptions,
): Promise<VaultView> {
  const minGeneration = BigInt(vault.generation);
  const object: VaultObject = await chain.readVault(vault.objectId, { ...read, minGeneration });
  const view = toVaultView(object);
  return acceptBelowFloor ? { ...view, floor: 0n } : view;
}

/** The parts of a vault that the reading functions of this directory need, with nothing of the service. */
function openOffline(
  { vault, vaultId, origin }: Manifest,
  platform: CryptoPlatform,
  read: (options?: ReadOptions) => Promise<VaultView>,
  keys: ExportKeys,
): OpenVault {
  const refuse = (): never => {
    throw new TypeError("nothing is written into an export");
  };
  const objectId = bytesOf(vault.objectId);
  const pin = { origin, vaultId, shared: true, chainObjectId: vault.objectId, ownerAddress: null, chainId: null };
  return {
    id: vaultId,
    pin,
    objectId,
    platform,
    seen: seenBy(rememberSeen()),
    author: refuse,
    view: read,
    writingKey: refuse,
    requireNewest: refuse,
    forgetWritingKey: refuse,
    openKeys: (records) => keys.open(records),
    findKey: (record) => keys.find(record),
    record: (keyId) => keys.record(keyId),
  };
}
