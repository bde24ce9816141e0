/**
 * A vault's key records and their keys: fetched, opened and published once, and kept in memory only, until the client
 * forgets its keys.
 */
import { vaultKeysGroup, type VaultKeyRecord as ListedRecord } from "@coffer/contract";
import {
  comparePlaces,
  CryptoError,
  findSigner,
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
import { callOn } from "../../http/call.ts";
import { toBase64, toHex } from "../../transfer/digest.ts";
import { isAnswered, SdkError } from "../../http/errors.ts";
import { claimsOf, viewNaming } from "../names/signer-view.ts";
import { pause } from "../../http/time-limit.ts";
import { bytesOf } from "../addresses.ts";
import { CONFIRMED_AFTER_MS } from "../trust/sight-rules.ts";
import { nameOfKey } from "../trust/key-makers.ts";
import type { SeenNumbers } from "../trust/seen-numbers.ts";
import type { WritingKey, WritingUse } from "../open-vault.ts";
import type { VaultPin } from "../trust/pins.ts";
import { generationMoved } from "../service-view.ts";
import type { VaultRegistry } from "../vault-registry.ts";
import { KeyServers, openedAt, type OpenOutcome } from "./key-servers.ts";
import { Ladder } from "./ladder.ts";
import { RecordList } from "./record-list.ts";
import type { OwnedKeys } from "./owned-keys.ts";

/** What the vault keys need to know of their vault. */
export interface KeyRingVault {
  readonly view: (options?: ReadOptions) => Promise<VaultView>;
  readonly author: (view: VaultView) => Author;
  readonly numbers: Pick<
    SeenNumbers,
    "isBaseConfirmed" | "recordMakers" | "isMakerConfirmed" | "recordMade" | "isMade"
  >;
}

/** How often others may take the place of a rotation's key before the rotation stops. */
const MAX_DISPLACED = 3;

/** Between two looks whether a key's maker is confirmed, in milliseconds: another process may see it. */
const CONFIRMATION_POLL_MS = 1_000;

interface Unavailable {
  readonly refused: ChainError;
}

export class KeyRing {
  readonly #registry: VaultRegistry;
  readonly #pin: VaultPin;
  readonly #vault: KeyRingVault;
  readonly #records: RecordList;
  readonly #ladder: Ladder;
  /** By key id. A promise, so that readers that ask at once share one request; a record refused for its bytes stays refused. */
  readonly #keys = new Map<string, Promise<OpenOutcome>>();
  /** By record: every file of a generation brings the same one. */
  readonly #opened = new WeakMap<VaultKeyRecord, VaultKey>();
  /** By place: one writer publishes, the others wait for it. */
  readonly #writing = new Map<string, Promise<WritingKey>>();
  /** By place: this client's own keys, for a rotation, and how often another member's took their place. */
  readonly #rotating = new Map<string, Promise<WritingKey>>();
  readonly #displaced = new Map<string, number>();
  /** Places at which a rotation of this process has published. */
  readonly #published = new Set<string>();
  /** Every key that is opened or made here is owned there, and overwritten with it. */
  readonly #owned: OwnedKeys;
  readonly #servers: KeyServers;

  constructor(registry: VaultRegistry, pin: VaultPin, vault: KeyRingVault, owned: OwnedKeys) {
    this.#registry = registry;
    this.#pin = pin;
    this.#vault = vault;
    this.#owned = owned;
    this.#servers = new KeyServers(() => registry.wrap(), owned);
    this.#records = new RecordList(registry, pin.vaultId, vault.view);
    this.#ladder = new Ladder(registry, pin.vaultId, this.#records, owned, (at, records) =>
      this.#openHeads(at, records),
    );
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
      if (!areUnavailable(error)) throw error;
      for (const record of records) await this.#findQuietly(record);
    }
  }

  /** In the order of the records, each once. */
  async #openOnce(records: readonly VaultKeyRecord[]): Promise<OpenOutcome[]> {
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
    await verifyRecord(await viewNaming(this.#vault.view, claimsOf(record)), record);
    for (const other of await this.#sealedAgain(record)) {
      const outcome = await this.#find(other);
      if (!("key" in outcome)) continue;
      this.#remember(toHex(record.keyId), Promise.resolve(outcome));
      return outcome.key;
    }
    throw opened.refused;
  }

  /** A record by its id: from memory, or from the service's list. It is verified when it is used. */
  async record(keyId: Uint8Array, generation: bigint | null): Promise<VaultKeyRecord> {
    const record = await this.#records.find(toHex(keyId), generation);
    if (record === undefined)
      throw new CryptoError("damaged", "record", "the service does not list the vault key that was signed");
    return record;
  }

  /** `place`: of the view, or a later one that it has reached. */
  async forWriting(view: VaultView, place: Place, use: WritingUse): Promise<WritingKey> {
    const isRotation = use === "rotation";
    const [keys, find] = isRotation
      ? [this.#rotating, () => this.#findOwn(view, place)]
      : [this.#writing, () => this.#findForWriting(view, place)];
    const name = nameOf(place);
    const finding = keys.get(name) ?? find();
    keys.set(name, finding);
    finding.catch(() => keys.get(name) === finding && keys.delete(name));
    const writing = await finding;
    if (use === "again") await this.#requireConfirmedMaker(view, writing.record);
    return writing;
  }

  /** The service now has another record, or none that fits: the next writer looks again. */
  forgetWriting(): void {
    this.#writing.clear();
    this.#rotating.clear();
  }

  /** Absent key servers fail like a record that does not open; that is not remembered. */
  async #find(record: VaultKeyRecord): Promise<OpenOutcome | Unavailable> {
    try {
      const [opened] = await this.#openOnce([record]);
      if (opened === undefined) throw new TypeError("the key was opened a moment ago");
      return opened;
    } catch (error) {
      if (!areUnavailable(error)) throw error;
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
    const [check, own] = [toHex(record.check), toHex(record.keyId)];
    return [...this.#records.byId]
      .filter(([id, other]) => id !== own && comparePlaces(other, record) === 0 && toHex(other.check) === check)
      .map(([, other]) => other);
  }

  async #findForWriting(view: VaultView, place: Place): Promise<WritingKey> {
    // A client that cannot sign needs no key for writing.
    const author = this.#vault.author(view);
    const current = await this.#currentAt(place);
    const usable = current === undefined ? null : await this.#useForWriting(view, place, current);
    if (usable !== null) return usable;
    const published = await this.#publish(view, place, author, current?.keyId);
    if (!("conflict" in published)) return published;
    const winner = await this.#currentAt(place);
    const theirs = winner === undefined ? null : await this.#useForWriting(view, place, winner);
    if (theirs === null) throw published.conflict;
    return theirs;
  }

  /**
   * A key of this client's own making, by its own note alone. It takes the place of any other record, until others have
   * taken it back too often: two rotations at once would go on for ever.
   */
  async #findOwn(view: VaultView, place: Place): Promise<WritingKey> {
    const [author, name] = [this.#vault.author(view), nameOf(place)];
    for (;;) {
      const current = await this.#currentAt(place);
      const record = current === undefined ? undefined : this.#records.byId.get(current.keyId);
      if (current !== undefined && record !== undefined && (await this.#isOwn(record))) {
        const own = await this.#useForWriting(view, place, current);
        if (own !== null) return own;
      } else if (this.#published.has(name)) this.#countDisplaced(name);
      const published = await this.#publish(view, place, author, current?.keyId);
      if (!("conflict" in published)) {
        this.#published.add(name);
        return published;
      }
      this.#countDisplaced(name);
    }
  }

  #countDisplaced(name: string): void {
    const times = (this.#displaced.get(name) ?? 0) + 1;
    this.#displaced.set(name, times);
    if (times >= MAX_DISPLACED) throw generationMoved();
  }

  /** Only the note on disk proves it: a record may name anybody who has ever signed at its place. */
  async #isOwn(record: VaultKeyRecord): Promise<boolean> {
    if (toHex(record.maker) !== toHex(bytesOf(this.#registry.signer.chainAddress))) return false;
    return this.#vault.numbers.isMade(nameOfKey(record));
  }

  /**
   * What was stored before goes under another member's key only after more than one sight of one node, which may have
   * made the member up. Waits until a second one confirms it.
   */
  async #requireConfirmedMaker(view: VaultView, record: VaultKeyRecord): Promise<void> {
    const { numbers } = this.#vault;
    if (await this.#isOwn(record)) return;
    await numbers.recordMakers([record]);
    let waited = 0;
    for (; waited < CONFIRMED_AFTER_MS && !(await numbers.isMakerConfirmed(record)); waited += CONFIRMATION_POLL_MS)
      await pause(this.#registry.connection.clock, CONFIRMATION_POLL_MS, undefined);
    if (waited === 0) return;
    const now = await this.#vault.view({ maxAge: 0 });
    if (now.generation !== view.generation || findSigner(now, record.maker, record) === null) {
      this.forgetWriting();
      throw generationMoved();
    }
  }

  async #currentAt({ generation, after }: Place): Promise<ListedRecord | undefined> {
    const listed = await this.#records.list(generation);
    return listed.find((each) => each.current && BigInt(each.after) === after);
  }

  /** null: the record does not verify or open, and may be replaced (encryption design §2, records). */
  async #useForWriting(seen: VaultView, place: Place, { keyId }: ListedRecord): Promise<WritingKey | null> {
    const record = this.#records.byId.get(keyId);
    if (record === undefined) return null;
    try {
      if (comparePlaces(record, place) !== 0) return null;
      // Its maker may have been added a moment ago: nobody replaces a good record.
      const view = await viewNaming(this.#vault.view, claimsOf(record), seen);
      if (view.generation !== seen.generation) throw generationMoved();
      if (!isRecordForWriting(view, record)) return null;
      await verifyRecord(view, record);
      return { record, key: await this.find(record) };
    } catch (error) {
      if (isRefusal(error)) return null;
      throw error;
    }
  }

  /**
   * With steps down to older keys, in one request. The loser of a race for the place discards its key and its steps.
   * A record whose answer was lost is recognised by its id.
   */
  async #publish(
    view: VaultView,
    place: Place,
    author: Author,
    replaces: string | undefined,
  ): Promise<WritingKey | { readonly conflict: SdkError }> {
    const key = this.#owned.own(randomVaultKey(view.vault, place));
    try {
      const published = await this.#publishKey(view, place, author, key, replaces);
      if ("conflict" in published) this.#owned.discard(key);
      return published;
    } catch (error) {
      this.#owned.discard(key);
      throw error;
    }
  }

  async #publishKey(
    view: VaultView,
    place: Place,
    author: Author,
    key: VaultKey,
    replaces: string | undefined,
  ): Promise<WritingKey | { readonly conflict: SdkError }> {
    const opened = await newVaultKeyRecord(view, this.#registry.wrap(), author, key);
    const steps = await this.#stepsFrom(view, opened);
    await this.#vault.numbers.recordMade(nameOfKey(opened.record));
    const body = {
      record: toBase64(opened.record.bytes),
      ...(replaces === undefined ? {} : { replaces }),
      ...(steps.length === 0 ? {} : { steps: [...steps] }),
    };
    const params = { vaultId: this.#pin.vaultId };
    try {
      await callOn(this.#registry.connection, vaultKeysGroup.publish, { params, body });
    } catch (error) {
      const isTaken = isAnswered(error) && error.code === "key_exists";
      if (!(error instanceof SdkError) || (isAnswered(error) && !isTaken)) throw error;
      const current = await this.#currentAt(place).catch(() => undefined);
      if (current?.keyId !== toHex(opened.record.keyId)) {
        if (isTaken) return { conflict: error };
        throw error;
      }
    }
    this.#records.add(opened.record);
    this.#remember(toHex(opened.record.keyId), Promise.resolve({ key: opened.key }));
    this.#ladder.add(opened);
    return opened;
  }

  /** Opens keys by the ladder, and the rest at the key servers. */
  async #openAll(records: readonly VaultKeyRecord[]): Promise<readonly OpenOutcome[]> {
    const claims = records.flatMap(claimsOf);
    const view = await viewNaming(this.#vault.view, claims);
    const climbed = await this.#ladder.open(view, records);
    const unreached = records.filter(({ keyId }) => !climbed.has(toHex(keyId)));
    const outcomes = await this.#servers.open(view, unreached);
    const opened = unreached.flatMap((record, at) => openedWith(record, openedAt(outcomes, at)) ?? []);
    for (const each of opened) this.#ladder.add(each);
    const now = records.filter((each) => each.generation === view.generation && findSigner(view, each.maker, each));
    await this.#vault.numbers.recordMakers(now);
    return records.map((record) => climbed.get(toHex(record.keyId)) ?? openedAt(outcomes, unreached.indexOf(record)));
  }

  /** Keys to climb from. Those that do not open are missing: callers still ask for the keys that they need. */
  async #openHeads(view: VaultView, records: readonly VaultKeyRecord[]): Promise<readonly OpenedVaultKey[]> {
    try {
      const outcomes = await this.#servers.open(view, records);
      return records.flatMap((record, at) => openedWith(record, openedAt(outcomes, at)) ?? []);
    } catch (error) {
      if (error instanceof ChainError) return [];
      throw error;
    }
  }

  /** Without a base that memory or a witness confirms, a step could lead to keys of before a rotation: there is none. */
  async #stepsFrom(view: VaultView, newKey: OpenedVaultKey): ReturnType<Ladder["stepsFrom"]> {
    const isLowest = view.generation <= view.base && newKey.record.after === 0n;
    if (isLowest || !(await this.#vault.numbers.isBaseConfirmed(view))) return [];
    return this.#ladder.stepsFrom(view, newKey);
  }

  #remember(keyId: string, key: Promise<OpenOutcome>): void {
    this.#keys.set(keyId, key);
    const forget = () => this.#keys.get(keyId) === key && this.#keys.delete(keyId);
    key.then((opened) => "refused" in opened && opened.isPassing && forget(), forget);
  }
}

function nameOf({ generation, after }: Place): string {
  return `${generation} ${after}`;
}

function areUnavailable(error: unknown): error is ChainError {
  return error instanceof ChainError && error.code === "key_servers_unavailable";
}

function openedWith(record: VaultKeyRecord, opened: OpenOutcome): OpenedVaultKey | null {
  return "key" in opened ? { record, key: opened.key } : null;
}

function isRefusal(error: unknown): boolean {
  return error instanceof CryptoError && (error.code === "damaged" || error.code === "wrong_key");
}
