/** The vault keys of an export: its records, opened through the key servers. */
import { locateVault, sealVaultKeyWrap, type Chain } from "@coffer/chain";
import {
  CryptoError,
  KeyDisposedError,
  openVaultKeys,
  parseRecord,
  verifyRecord,
  type VaultKey,
  type VaultKeyRecord,
  type VaultView,
} from "@coffer/crypto";
import { toHex } from "../../transfer/digest.ts";
import type { SharedVaultOptions } from "../../connection/options.ts";
import { bytesOf } from "../addresses.ts";
import { OwnedKeys } from "../keys/owned-keys.ts";
import type { CheckedItems } from "./checked-items.ts";
import { VaultError } from "../../http/errors.ts";

/** The export's records and their keys, in memory only. */
export class ExportKeys {
  readonly #items: CheckedItems;
  readonly #wrap: ReturnType<typeof sealVaultKeyWrap>;
  readonly #view: () => Promise<VaultView>;
  readonly #keys = new Map<string, VaultKey>();
  readonly #owned = new OwnedKeys();
  #all: Promise<void> | null = null;
  #isClosed = false;
  /** All records that are in order, once they were looked for. */
  #records: VaultKeyRecord[] = [];

  constructor(items: CheckedItems, chain: Chain, options: SharedVaultOptions, view: () => Promise<VaultView>) {
    const { signer, network, fetch, clock } = options;
    this.#items = items;
    this.#view = view;
    this.#wrap = sealVaultKeyWrap({
      client: chain.client,
      network,
      fetch,
      clock,
      signer: {
        chainAddress: signer.chainAddress,
        signPersonalMessage: (bytes) => signer.signPersonalMessage(bytes),
        signTransaction: () => Promise.reject(new TypeError("a key wrap sends nothing")),
      },
      vaultObjects: {
        locate: async (vault) => locateVault(await chain.readVault(`0x${toHex(vault)}`), signer.chainAddress),
      },
    });
  }

  async record(keyId: Uint8Array): Promise<VaultKeyRecord> {
    const id = toHex(keyId);
    if (!this.#items.has("records", id))
      throw new CryptoError("damaged", "record", "the export lacks the vault key that was signed");
    const record = parseRecord(await this.#items.read("records", id));
    if (toHex(record.keyId) !== id)
      throw new CryptoError("damaged", "record", "the export holds another record under that key's id");
    return record;
  }

  /**
   * Opens all keys of the export with one request per key server; an error of one key shows when it is asked for. A
   * key sealed again for other key servers is opened with any of its records.
   */
  async find(record: VaultKeyRecord): Promise<VaultKey> {
    this.#all ??= this.#openAll();
    await this.#all.catch(() => undefined);
    const key = this.#keys.get(toHex(record.keyId));
    if (key !== undefined) return key;
    let failure: unknown;
    for (const candidate of [record, ...this.#sealedAgain(record)])
      try {
        await this.open([candidate]);
        const opened = this.#keys.get(toHex(candidate.keyId));
        if (opened !== undefined) return opened;
      } catch (error) {
        failure ??= error;
      }
    throw failure;
  }

  /** Records of the same generation with the same `check`; each was verified. */
  #sealedAgain({ generation, check, keyId }: VaultKeyRecord): VaultKeyRecord[] {
    const [ownCheck, own] = [toHex(check), toHex(keyId)];
    return this.#records.filter(
      (other) => toHex(other.keyId) !== own && other.generation === generation && toHex(other.check) === ownCheck,
    );
  }

  async open(records: readonly VaultKeyRecord[]): Promise<void> {
    const missing = records.filter(({ keyId }) => !this.#keys.has(toHex(keyId)));
    if (missing.length === 0) return;
    if (this.#isClosed) throw new KeyDisposedError();
    for (const { record, key } of await openVaultKeys(await this.#view(), missing, this.#wrap))
      this.#keys.set(toHex(record.keyId), this.#owned.own(key));
  }

  /** Overwrites the keys. Reads that are under way or begin later fail. */
  close(): void {
    this.#isClosed = true;
    this.#owned.dispose();
    this.#wrap.close();
  }

  async #openAll(): Promise<void> {
    const view = await this.#view();
    this.#records = [];
    for (const keyId of this.#items.ids("records")) {
      const record = await this.#readable(view, keyId);
      if (record !== null) this.#records.push(record);
    }
    await this.open(this.#records);
  }

  async #readable(view: VaultView, keyId: string): Promise<VaultKeyRecord | null> {
    try {
      const record = await this.record(bytesOf(`0x${keyId}`));
      await verifyRecord(view, record);
      return record;
    } catch (error) {
      if (error instanceof CryptoError || error instanceof VaultError) return null;
      throw error;
    }
  }
}
