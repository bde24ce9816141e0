/** A vault's key records and their keys: fetched, opened and published once, and kept in memory only. */
import { vaultKeysGroup } from "@coffer/contract/shared-vaults";
import type { VaultKeyRecord as ListedRecord } from "@coffer/contract";
import {
  comparePlaces,
  CryptoError,
  encodePlace,
  findSigner,
  isMemberIn,
  isRecordForWriting,
  newVaultKeyRecord,
  openVaultKeys,
  parseRecord,
  placeOf,
  randomVaultKey,
  verifyRecord,
  type Author,
  type Place,
  type VaultKey,
  type VaultKeyRecord,
  type VaultView,
} from "@coffer/crypto";
import { ChainError, type ReadOptions } from "@coffer/chain";
import { callOn } from "../../call.ts";
import { fromBase64, toBase64, toHex } from "../../digest.ts";
import { isApiError } from "../../errors.ts";
import { viewNaming } from "../names/naming-view.ts";
import type { WritingKey } from "../open-vault.ts";
import { bytesOf } from "../addresses.ts";
import type { VaultPin } from "../memory/pins.ts";
import { untilServed } from "../service-view.ts";
import type { VaultSession } from "../session.ts";

/** How many keys one request to a key server may ask for. */
const MOST_AT_ONCE = 100;

/** `isPassing`: the chain's node did not name who made the record, which a later read may do. */
type Opened = { readonly key: VaultKey } | { readonly refused: CryptoError; readonly isPassing: boolean };
interface Away {
  readonly refused: ChainError;
}

export class KeyRing {
  readonly #session: VaultSession;
  readonly #pin: VaultPin;
  readonly #view: (options?: ReadOptions) => Promise<VaultView>;
  readonly #author: (view: VaultView) => Author;
  readonly #records = new Map<string, VaultKeyRecord>();
  /** By key id. A promise, so that readers who ask at once share one request; what was refused for its bytes stays so. */
  readonly #keys = new Map<string, Promise<Opened>>();
  /** By place: one writer publishes, the others wait for it. */
  readonly #writing = new Map<string, Promise<WritingKey>>();
  /** By generation, null for all of them: lists that are on their way. */
  readonly #lists = new Map<bigint | null, Promise<readonly ListedRecord[]>>();

  constructor(
    session: VaultSession,
    pin: VaultPin,
    view: (options?: ReadOptions) => Promise<VaultView>,
    author: (view: VaultView) => Author,
  ) {
    this.#session = session;
    this.#pin = pin;
    this.#view = view;
    this.#author = author;
  }

  /**
   * Opens what is not open yet, with one request per key server for up to 100 keys, as many as its budget covers. A record that does not open is told to whoever needs
   * its key, and keeps nobody from the others; rejects when the caller gets no keys at all. Where too few key servers of one set answer, each
   * key is looked for by itself, because it may have been sealed again for others.
   */
  async open(records: readonly VaultKeyRecord[]): Promise<void> {
    try {
      await this.#openOnce(records);
    } catch (error) {
      if (!areAway(error)) throw error;
      for (const record of records) await this.#findQuietly(record);
    }
  }

  /** In the order of the records, each once. */
  async #openOnce(records: readonly VaultKeyRecord[]): Promise<Opened[]> {
    const unique = new Map(records.map((record) => [toHex(record.keyId), record]));
    const missing = [...unique].filter(([keyId]) => !this.#keys.has(keyId));
    for (let from = 0; from < missing.length; from += MOST_AT_ONCE) {
      const batch = missing.slice(from, from + MOST_AT_ONCE);
      const opening = this.#openAll(batch.map(([, record]) => record));
      for (const [at, [keyId]] of batch.entries())
        this.#remember(
          keyId,
          opening.then((opened) => openedAt(opened, at)),
        );
    }
    // All at once: what is not remembered goes as soon as it is there.
    return Promise.all([...unique.keys()].flatMap((keyId) => this.#keys.get(keyId) ?? []));
  }

  /** The key of a record, or of another one of the same key that was sealed for key servers which this client accepts. */
  async find(record: VaultKeyRecord): Promise<VaultKey> {
    const opened = await this.#find(record);
    if ("key" in opened) return opened.key;
    // Its `check` alone may be copied from a record that is true.
    await verifyRecord(await viewNaming(this.#view, [{ ...record, signer: record.creator }]), record);
    for (const other of await this.#sealedAgain(record)) {
      const found = await this.#find(other);
      if (!("key" in found)) continue;
      this.#remember(toHex(record.keyId), Promise.resolve(found));
      return found.key;
    }
    throw opened.refused;
  }

  /** A record by its id: from memory, or from the service's list. What it lists is verified when it is used. */
  async record(keyId: Uint8Array, generation: bigint | null): Promise<VaultKeyRecord> {
    const id = toHex(keyId);
    const known = this.#records.get(id) ?? (await this.#list(generation), this.#records.get(id));
    if (known === undefined)
      throw new CryptoError("damaged", "record", "the service does not list the vault key that was signed");
    return known;
  }

  /** `place`: of the view, or a later one that it has reached. */
  forWriting(view: VaultView, place: Place): Promise<WritingKey> {
    const name = toHex(encodePlace(place));
    const known = this.#writing.get(name);
    if (known !== undefined) return known;
    const finding = this.#findForWriting(view, place);
    this.#writing.set(name, finding);
    finding.catch(() => this.#writing.delete(name));
    return finding;
  }

  /** What stands at the service is another record by now, or none that fits: the next writer looks again. */
  forgetWriting(): void {
    this.#writing.clear();
  }

  /** Key servers that are away refuse as a record does that does not open; that is not remembered. */
  async #find(record: VaultKeyRecord): Promise<Opened | Away> {
    try {
      const [opened] = await this.#openOnce([record]);
      if (opened === undefined) throw new TypeError("the key was opened a moment ago");
      return opened;
    } catch (error) {
      if (!areAway(error)) throw error;
      return { refused: error };
    }
  }

  /** What is wrong with the record's bytes is told to whoever needs its key. */
  async #findQuietly(record: VaultKeyRecord): Promise<void> {
    try {
      await this.find(record);
    } catch (error) {
      if (!(error instanceof CryptoError)) throw error;
    }
  }

  /** Records of the same place with the same `check`; each is verified before it is opened. */
  async #sealedAgain(record: VaultKeyRecord): Promise<readonly VaultKeyRecord[]> {
    await this.#list(record.generation);
    const [wanted, own] = [toHex(record.check), toHex(record.keyId)];
    return [...this.#records]
      .filter(([id, other]) => id !== own && comparePlaces(other, record) === 0 && toHex(other.check) === wanted)
      .map(([, other]) => other);
  }

  async #findForWriting(view: VaultView, place: Place): Promise<WritingKey> {
    // Whoever cannot sign needs no key for writing.
    const author = this.#author(view);
    const current = await this.#currentAt(place);
    if (current === undefined) return this.#publish(view, place, author, undefined);
    const usable = await this.#useForWriting(view, place, current);
    return usable ?? this.#publish(view, place, author, current.keyId);
  }

  async #currentAt({ generation, after }: Place): Promise<ListedRecord | undefined> {
    const listed = await this.#list(generation);
    return listed.find((each) => each.current && BigInt(each.after) === after);
  }

  /** null: the record does not verify or open, and may be replaced (encryption design §2, records). */
  async #useForWriting(view: VaultView, place: Place, { keyId }: ListedRecord): Promise<WritingKey | null> {
    const record = this.#records.get(keyId);
    if (record === undefined) return null;
    try {
      if (comparePlaces(record, place) !== 0 || !isRecordForWriting(view, record)) return null;
      await verifyRecord(view, record);
      return { record, key: await this.find(record) };
    } catch (error) {
      if (isRefusal(error)) return null;
      throw error;
    }
  }

  async #publish(view: VaultView, place: Place, author: Author, replaces: string | undefined): Promise<WritingKey> {
    const { connection } = this.#session;
    const made = await newVaultKeyRecord(view, this.#session.wrap(), author, randomVaultKey(view.vault, place));
    const body = { record: toBase64(made.record.bytes), ...(replaces === undefined ? {} : { replaces }) };
    const params = { vaultId: this.#pin.vaultId };
    try {
      await callOn(connection, vaultKeysGroup.publish, { params, body });
    } catch (error) {
      if (!isApiError(error) || error.code !== "key_exists") throw error;
      const winner = await this.#currentAt(place);
      const adopted = winner === undefined ? null : await this.#useForWriting(view, place, winner);
      if (adopted === null) throw error;
      return adopted;
    }
    const keyId = toHex(made.record.keyId);
    this.#records.set(keyId, made.record);
    this.#remember(keyId, Promise.resolve({ key: made.key }));
    return made;
  }

  /** Those who ask at once share one call. */
  #list(generation: bigint | null): Promise<readonly ListedRecord[]> {
    const running = this.#lists.get(generation);
    if (running !== undefined) return running;
    const listing = this.#listAll(generation).finally(() => this.#lists.delete(generation));
    this.#lists.set(generation, listing);
    return listing;
  }

  async #listAll(generation: bigint | null): Promise<readonly ListedRecord[]> {
    const { connection } = this.#session;
    const params = { vaultId: this.#pin.vaultId };
    const filter = generation === null ? {} : { generation: String(generation) };
    const listed: ListedRecord[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const query = { ...filter, limit: 100, ...(cursor === undefined ? {} : { cursor }) };
      // What a member does in the vault begins here: whom the service's node does not know yet is waited for.
      const list = () => callOn(connection, vaultKeysGroup.list, { params, query });
      const page = await untilServed(connection, () => this.#isNamed(), list);
      listed.push(...page.keys);
      cursor = page.nextCursor;
    }
    for (const each of listed) this.#note(each);
    return listed;
  }

  async #isNamed(): Promise<boolean> {
    const view = await this.#view();
    return isMemberIn(view, bytesOf(this.#session.signer.chainAddress), placeOf(view));
  }

  /** A record that is not one, or not the one its id says, is passed over: who needs it learns that it is missing. */
  #note({ keyId, record }: ListedRecord): void {
    const bytes = fromBase64(record);
    if (bytes === null || this.#records.has(keyId)) return;
    try {
      const parsed = parseRecord(bytes);
      if (toHex(parsed.keyId) === keyId) this.#records.set(keyId, parsed);
    } catch (error) {
      if (!(error instanceof CryptoError)) throw error;
    }
  }

  async #openAll(records: readonly VaultKeyRecord[]): Promise<readonly Opened[]> {
    const claims = records.map((record) => ({ ...record, signer: record.creator }));
    const view = await viewNaming(this.#view, claims);
    return this.#openOf(view, records);
  }

  /** All at once; when one of them is refused, in halves, until the refused ones are alone. */
  async #openOf(view: VaultView, records: readonly VaultKeyRecord[]): Promise<readonly Opened[]> {
    try {
      return (await openVaultKeys(view, records, this.#session.wrap())).map(({ key }) => ({ key }));
    } catch (error) {
      if (!(error instanceof CryptoError)) throw error;
      const [one] = records;
      if (one !== undefined && records.length === 1)
        return [{ refused: error, isPassing: findSigner(view, one.creator, one) === null }];
      const half = Math.ceil(records.length / 2);
      const first = await this.#openOf(view, records.slice(0, half));
      return [...first, ...(await this.#openOf(view, records.slice(half)))];
    }
  }

  #remember(keyId: string, key: Promise<Opened>): void {
    this.#keys.set(keyId, key);
    const forget = () => this.#keys.get(keyId) === key && this.#keys.delete(keyId);
    key.then((opened) => "refused" in opened && opened.isPassing && forget(), forget);
  }
}

function areAway(error: unknown): error is ChainError {
  return error instanceof ChainError && error.code === "key_servers_unavailable";
}

function isRefusal(error: unknown): boolean {
  return error instanceof CryptoError && (error.code === "damaged" || error.code === "wrong_key");
}

function openedAt(opened: readonly Opened[], at: number): Opened {
  const one = opened[at];
  if (one === undefined) throw new TypeError("fewer keys were opened than asked for");
  return one;
}
