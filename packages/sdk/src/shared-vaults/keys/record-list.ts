/** The key records that the service lists of a vault, each read once. This module verifies nothing. */
import { vaultKeysGroup, type VaultKeyRecord as ListedRecord } from "@coffer/contract";
import { CryptoError, isMemberIn, parseRecord, placeOf, type VaultKeyRecord, type VaultView } from "@coffer/crypto";
import { callOn } from "../../http/call.ts";
import { everyPage, MAX_PAGES_IN_MEMORY, type PageCursor } from "../../http/every-page.ts";
import { fromBase64, toHex } from "../../transfer/digest.ts";
import { bytesOf } from "../addresses.ts";
import { untilServed } from "../service-view.ts";
import type { VaultRegistry } from "../vault-registry.ts";

/** As many records as two hundred generations have, in one answer of some 200 KB. */
const PAGE = 200;

export class RecordList {
  readonly #registry: VaultRegistry;
  readonly #vaultId: string;
  readonly #view: () => Promise<VaultView>;
  readonly #records = new Map<string, VaultKeyRecord>();
  /** By generation, null for all of them: lists that are on their way. */
  readonly #lists = new Map<bigint | null, Promise<readonly ListedRecord[]>>();
  /** The one generation that was asked for; null once all of them were. */
  #listedGeneration: bigint | null | undefined;

  constructor(registry: VaultRegistry, vaultId: string, view: () => Promise<VaultView>) {
    this.#registry = registry;
    this.#vaultId = vaultId;
    this.#view = view;
  }

  /** By id: the records listed so far. */
  get byId(): ReadonlyMap<string, VaultKeyRecord> {
    return this.#records;
  }

  add(record: VaultKeyRecord): void {
    this.#records.set(toHex(record.keyId), record);
  }

  /** undefined: the service does not list it. `generation`: where to look; null: everywhere. */
  async find(keyId: string, generation: bigint | null): Promise<VaultKeyRecord | undefined> {
    const record = this.#records.get(keyId);
    if (record !== undefined) return record;
    // A caller that needs the keys of a second generation may need those of all: one list has them.
    const isSecond =
      this.#listedGeneration !== undefined && this.#listedGeneration !== null && this.#listedGeneration !== generation;
    if (isSecond) await this.list(null);
    if (!this.#records.has(keyId)) await this.list(generation);
    return this.#records.get(keyId);
  }

  /** Callers that ask at once share one call. */
  list(generation: bigint | null): Promise<readonly ListedRecord[]> {
    const running = this.#lists.get(generation);
    if (running !== undefined) return running;
    if (this.#listedGeneration !== null) this.#listedGeneration = generation;
    const listing = this.#listAll(generation).finally(() => this.#lists.delete(generation));
    this.#lists.set(generation, listing);
    return listing;
  }

  async #listAll(generation: bigint | null): Promise<readonly ListedRecord[]> {
    const { connection } = this.#registry;
    const params = { vaultId: this.#vaultId };
    const filter = generation === null ? {} : { generation: String(generation) };
    const { list } = vaultKeysGroup;
    const load = (place: PageCursor) => {
      const query = { ...filter, limit: PAGE, ...place };
      // A member's work in the vault begins here: wait for one that the service's node does not show yet.
      return untilServed(
        connection,
        () => this.#isNamed(),
        () => callOn(connection, list, { params, query }),
      );
    };
    const listed: ListedRecord[] = [];
    for await (const { keys } of everyPage(list.id, load, MAX_PAGES_IN_MEMORY)) listed.push(...keys);
    for (const each of listed) this.#read(each);
    return listed;
  }

  async #isNamed(): Promise<boolean> {
    const view = await this.#view();
    return isMemberIn(view, bytesOf(this.#registry.signer.chainAddress), placeOf(view));
  }

  /** Skips a record that is broken, or not the one its id names: a caller that needs it learns that it is missing. */
  #read({ keyId, record }: ListedRecord): void {
    const bytes = fromBase64(record);
    if (bytes === null || this.#records.has(keyId)) return;
    try {
      const parsed = parseRecord(bytes);
      if (toHex(parsed.keyId) === keyId) this.#records.set(keyId, parsed);
    } catch (error) {
      if (!(error instanceof CryptoError)) throw error;
    }
  }
}
