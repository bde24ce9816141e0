/** A vault's key records and their keys: fetched, opened and published once, and kept in memory only. */
import { vaultKeysGroup } from "@coffer/contract/shared-vaults";
import type { VaultKeyRecord as ListedRecord } from "@coffer/contract";
import {
  comparePlaces,
  CryptoError,
  isRecordForWriting,
  newVaultKeyRecord,
  randomVaultKey,
  verifyRecord,
  type Author,
  type OpenedVaultKey,
  type Place,
  type VaultKey,
  type VaultKeyRecord,
  type VaultView,
} from "@coffer/crypto";
import { ChainError, type ReadOptions } from "@coffer/chain";
import { callOn } from "../../call.ts";
import { toBase64, toHex } from "../../digest.ts";
import { isAnswered } from "../../errors.ts";
import { viewNaming } from "../names/naming-view.ts";
import type { WritingKey } from "../open-vault.ts";
import type { VaultPin } from "../memory/pins.ts";
import type { VaultSession } from "../session.ts";
import { KeyServers, openedAt, type Opened } from "./asking.ts";
import { Ladder } from "./climbing.ts";
import { ListedRecords } from "./listed-records.ts";

interface Away {
  readonly refused: ChainError;
}

export class KeyRing {
  readonly #session: VaultSession;
  readonly #pin: VaultPin;
  readonly #view: (options?: ReadOptions) => Promise<VaultView>;
  readonly #author: (view: VaultView) => Author;
  readonly #records: ListedRecords;
  readonly #ladder: Ladder;
  /** By key id. A promise, so that readers that ask at once share one request; a record refused for its bytes stays refused. */
  readonly #keys = new Map<string, Promise<Opened>>();
  /** By record: every file of a generation brings the same one. */
  readonly #opened = new WeakMap<VaultKeyRecord, VaultKey>();
  /** By place: one writer publishes, the others wait for it. */
  readonly #writing = new Map<string, Promise<WritingKey>>();
  readonly #servers: KeyServers;

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
    this.#servers = new KeyServers(() => session.wrap());
    this.#records = new ListedRecords(session, pin.vaultId, view);
    this.#ladder = new Ladder(session, pin.vaultId, this.#records, (at, record) => this.#openHead(at, record));
  }

  /**
   * Opens all closed keys, with one request per key server for up to 100 keys, as many as its budget covers. A record
   * that does not open fails for callers that need its key, and delays no others. It rejects when the caller gets no
   * keys at all. If too few key servers of one set answer, it looks for each key by itself, because it may have been
   * sealed again for others.
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
    const opening = missing.length === 0 ? null : this.#openAll(missing.map(([, record]) => record));
    for (const [at, [keyId]] of missing.entries())
      if (opening !== null)
        this.#remember(
          keyId,
          opening.then((opened) => openedAt(opened, at)),
        );
    // All at once: a key that is not remembered goes as soon as it is there.
    return Promise.all([...unique.keys()].flatMap((keyId) => this.#keys.get(keyId) ?? []));
  }

  /** The key of a record, or of another record of the same key for key servers that this client accepts. */
  async find(record: VaultKeyRecord): Promise<VaultKey> {
    const key = this.#opened.get(record) ?? (await this.#findOpened(record));
    this.#opened.set(record, key);
    return key;
  }

  async #findOpened(record: VaultKeyRecord): Promise<VaultKey> {
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

  /** A record by its id: from memory, or from the service's list. It is verified when it is used. */
  async record(keyId: Uint8Array, generation: bigint | null): Promise<VaultKeyRecord> {
    const known = await this.#records.find(toHex(keyId), generation);
    if (known === undefined)
      throw new CryptoError("damaged", "record", "the service does not list the vault key that was signed");
    return known;
  }

  /** `place`: of the view, or a later one that it has reached. */
  forWriting(view: VaultView, place: Place): Promise<WritingKey> {
    const name = `${place.generation} ${place.after}`;
    const known = this.#writing.get(name);
    if (known !== undefined) return known;
    const finding = this.#findForWriting(view, place);
    this.#writing.set(name, finding);
    finding.catch(() => this.#writing.delete(name));
    return finding;
  }

  /** The service now has another record, or none that fits: the next writer looks again. */
  forgetWriting(): void {
    this.#writing.clear();
  }

  /** Absent key servers fail like a record that does not open; that is not remembered. */
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

  /** An error in the record's bytes fails for callers that need its key. */
  async #findQuietly(record: VaultKeyRecord): Promise<void> {
    try {
      await this.find(record);
    } catch (error) {
      if (!(error instanceof CryptoError)) throw error;
    }
  }

  /** Records of the same place with the same `check`; each is verified before it is opened. */
  async #sealedAgain(record: VaultKeyRecord): Promise<readonly VaultKeyRecord[]> {
    await this.#records.list(record.generation);
    const [wanted, own] = [toHex(record.check), toHex(record.keyId)];
    return [...this.#records.known]
      .filter(([id, other]) => id !== own && comparePlaces(other, record) === 0 && toHex(other.check) === wanted)
      .map(([, other]) => other);
  }

  async #findForWriting(view: VaultView, place: Place): Promise<WritingKey> {
    // A client that cannot sign needs no key for writing.
    const author = this.#author(view);
    const current = await this.#currentAt(place);
    if (current === undefined) return this.#publish(view, place, author, undefined);
    const usable = await this.#useForWriting(view, place, current);
    return usable ?? this.#publish(view, place, author, current.keyId);
  }

  async #currentAt({ generation, after }: Place): Promise<ListedRecord | undefined> {
    const listed = await this.#records.list(generation);
    return listed.find((each) => each.current && BigInt(each.after) === after);
  }

  /** null: the record does not verify or open, and may be replaced (encryption design §2, records). */
  async #useForWriting(view: VaultView, place: Place, { keyId }: ListedRecord): Promise<WritingKey | null> {
    const record = this.#records.known.get(keyId);
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
      if (!isAnswered(error) || error.code !== "key_exists") throw error;
      const winner = await this.#currentAt(place);
      const adopted = winner === undefined ? null : await this.#useForWriting(view, place, winner);
      if (adopted === null) throw error;
      return adopted;
    }
    this.#records.note(made.record);
    this.#remember(toHex(made.record.keyId), Promise.resolve({ key: made.key }));
    await this.#lay(view, made);
    return made;
  }

  /** Opens keys by the ladder, and the rest at the key servers. */
  async #openAll(records: readonly VaultKeyRecord[]): Promise<readonly Opened[]> {
    const claims = records.map((record) => ({ ...record, signer: record.creator }));
    const view = await viewNaming(this.#view, claims);
    const climbed = await this.#ladder.open(view, records);
    const left = records.filter(({ keyId }) => !climbed.has(toHex(keyId)));
    const asked = await this.#servers.ask(view, left);
    const opened = left.flatMap((record, at) => openedWith(record, openedAt(asked, at)) ?? []);
    for (const each of opened) this.#ladder.note(each);
    await this.#ladder.mend(view, opened);
    return records.map((record) => climbed.get(toHex(record.keyId)) ?? openedAt(asked, left.indexOf(record)));
  }

  /** The newest key, to climb from. If it does not open, callers still ask for the keys that they need. */
  async #openHead(view: VaultView, record: VaultKeyRecord): Promise<OpenedVaultKey | null> {
    try {
      return openedWith(record, openedAt(await this.#servers.ask(view, [record]), 0));
    } catch (error) {
      if (error instanceof ChainError) return null;
      throw error;
    }
  }

  /** One step from a new key to the one before it: so that every reader climbs. Never a reason to fail. */
  async #lay(view: VaultView, made: OpenedVaultKey): Promise<void> {
    this.#ladder.note(made);
    if (view.generation <= view.base && made.record.after === 0n) return;
    const before = await this.#ladder.newest(view, made.record);
    if (before === null) return;
    try {
      await this.#openOnce([before]);
      await this.#ladder.mend(view, [made]);
    } catch (error) {
      if (!(error instanceof ChainError || error instanceof CryptoError)) throw error;
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

function openedWith(record: VaultKeyRecord, opened: Opened): OpenedVaultKey | null {
  return "key" in opened ? { record, key: opened.key } : null;
}

function isRefusal(error: unknown): boolean {
  return error instanceof CryptoError && (error.code === "damaged" || error.code === "wrong_key");
}
