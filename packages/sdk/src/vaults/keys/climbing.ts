/**
 * The ladder of a vault's keys (encryption design §7). The key servers open the newest key. Steps that the service
 * keeps open the older ones here. The ladder is a shortcut and never a condition: keys that it does not reach come
 * from the key servers, which also repairs it.
 */
import { MAX_STEPS, vaultKeysGroup } from "@coffer/contract/shared-vaults";
import {
  comparePlaces,
  CryptoError,
  encodePlace,
  isOnLadder,
  makeLadderStep,
  openLadderStep,
  parseLadderStep,
  placeOf,
  verifyRecord,
  type LadderStep,
  type OpenedVaultKey,
  type Place,
  type VaultKeyRecord,
  type VaultView,
} from "@coffer/crypto";
import { callOn } from "../../call.ts";
import { fromBase64, toBase64, toHex } from "../../digest.ts";
import { SdkError } from "../../errors.ts";
import { everyPage, MOST_KEPT_PAGES, type PagePlace } from "../../every-page.ts";
import type { VaultSession } from "../session.ts";
import type { ListedRecords } from "./listed-records.ts";

/** The most steps of one answer: 200 bytes each. */
const PAGE = 1000;

/** How long it does not ask again for a newest key that did not open, in milliseconds: its key servers may be away. */
const HEAD_PAUSE = 10_000;

/** The key of a record at the key servers; null: it does not open there. */
type OpenHead = (view: VaultView, record: VaultKeyRecord) => Promise<OpenedVaultKey | null>;

export class Ladder {
  readonly #session: VaultSession;
  readonly #vaultId: string;
  readonly #records: ListedRecords;
  readonly #openHead: OpenHead;
  /** By place: open keys, one of each place. */
  readonly #rungs = new Map<string, OpenedVaultKey>();
  /** By the place where they begin. */
  readonly #steps = new Map<string, LadderStep>();
  /** Steps that do not open what they name, or that somebody else replaced. */
  readonly #bad = new Set<LadderStep>();
  #listing: Promise<void> | null = null;
  #isListed = false;
  #pausedUntil = 0;
  /** False: the service refuses steps from this caller. */
  #isTaken = true;

  constructor(session: VaultSession, vaultId: string, records: ListedRecords, openHead: OpenHead) {
    this.#session = session;
    this.#vaultId = vaultId;
    this.#records = records;
    this.#openHead = openHead;
  }

  /**
   * Keys of those records that are open, or that it reaches from above, by key id. Asks nobody if all are at the
   * vault's place now.
   */
  async open(view: VaultView, wanted: readonly VaultKeyRecord[]): Promise<ReadonlyMap<string, OpenedVaultKey>> {
    const found = new Map<string, OpenedVaultKey>();
    const now = placeOf(view);
    const below = wanted.filter((record) => isOnLadder(view, record) && comparePlaces(record, now) < 0);
    const [lowest] = below.toSorted(comparePlaces);
    if (lowest === undefined) return found;
    const top = await this.#top(view, below);
    if (top === null) return found;
    await this.#climb(view, top, lowest);
    for (const record of wanted) {
      const rung = this.#rungs.get(nameOf(record));
      if (rung === undefined || !isSameKey(rung.record, record) || !(await isTrue(view, record))) continue;
      found.set(toHex(record.keyId), { record, key: rung.key });
    }
    return found;
  }

  /** A key opened at the key servers, or made. A climb begins or goes on there. */
  note(opened: OpenedVaultKey): void {
    this.#rungs.set(nameOf(opened.record), opened);
  }

  /**
   * Publishes missing or bad steps between open keys, if they touch `opened`: any holder of both keys can make them.
   * Never a reason to fail.
   */
  async mend(view: VaultView, opened: readonly OpenedVaultKey[]): Promise<void> {
    if (this.#rungs.size < 2 || !this.#isTaken || this.#session.signer.statements === undefined) return;
    const touched = new Set(opened.map(({ record }) => nameOf(record)));
    const rungs = [...this.#rungs.values()]
      .filter(({ record }) => isOnLadder(view, record))
      .toSorted((a, b) => comparePlaces(b.record, a.record));
    const missing: Missing[] = [];
    for (const [index, from] of rungs.entries()) {
      const to = rungs[index + 1];
      if (to === undefined || !(touched.has(nameOf(from.record)) || touched.has(nameOf(to.record)))) continue;
      if (this.#leadsTo(from, to)) continue;
      missing.push({ from, to, step: await makeLadderStep(this.#session.platform, from.key, to.key) });
    }
    if (missing.length > 0) await this.#put(missing);
  }

  /** A step that leads further down than `to` bypasses it; an untried step is believed until then. */
  #leadsTo(from: OpenedVaultKey, to: OpenedVaultKey): boolean {
    const step = this.#steps.get(nameOf(from.record));
    if (step === undefined || this.#bad.has(step)) return false;
    const order = comparePlaces(step.to, to.record);
    return order > 0 || (order === 0 && toHex(step.check) === toHex(to.record.check));
  }

  async #put(missing: readonly Missing[]): Promise<void> {
    const params = { vaultId: this.#vaultId };
    for (let at = 0; at < missing.length && this.#isTaken; at += MAX_STEPS) {
      const piece = missing.slice(at, at + MAX_STEPS);
      const steps = piece.map(({ from, to, step }) => {
        return { step: toBase64(step.bytes), from: toHex(from.record.keyId), to: toHex(to.record.keyId) };
      });
      const put = callOn(this.#session.connection, vaultKeysGroup.putSteps, { params, body: { steps } });
      this.#isTaken = (await quietly(put.then(() => true))) ?? false;
      for (const { from, step } of piece) this.#steps.set(nameOf(from.record), step);
    }
  }

  /** The key to climb from: an open one above all wanted keys, else the newest of the vault. */
  async #top(view: VaultView, wanted: readonly VaultKeyRecord[]): Promise<OpenedVaultKey | null> {
    const [highest] = wanted.toSorted((a, b) => comparePlaces(b, a));
    const open = [...this.#rungs.values()].toSorted((a, b) => comparePlaces(b.record, a.record))[0];
    if (highest === undefined || this.#pausedUntil > this.#session.clock()) return null;
    if (open !== undefined && comparePlaces(open.record, highest) >= 0) {
      if (!this.#isListed) await this.#list();
      return open;
    }
    const [head] = await Promise.all([this.newest(view), this.#list()]);
    const opened = head === null ? null : await this.#openHead(view, head);
    if (opened === null) this.#pausedUntil = this.#session.clock() + HEAD_PAUSE;
    else this.note(opened);
    return opened;
  }

  /** The newest true record that the service calls current, perhaps of those below a place; null: there is none, or no answer. */
  async newest(view: VaultView, below?: Place): Promise<VaultKeyRecord | null> {
    const listed = (await quietly(this.#records.list(null))) ?? [];
    const current = listed.flatMap(({ keyId, current: is }) => (is ? (this.#records.known.get(keyId) ?? []) : []));
    for (const record of current.toSorted((a, b) => comparePlaces(b, a)))
      if (isOnLadder(view, record) && isBelow(record, below) && (await isTrue(view, record))) return record;
    return null;
  }

  /** Climbs down to `lowest`, or as far as good steps lead. */
  async #climb(view: VaultView, top: OpenedVaultKey, lowest: Place): Promise<void> {
    let targets = this.#byKey();
    let isListed = false;
    for (let rung = top; comparePlaces(rung.record, lowest) > 0;) {
      const step = this.#steps.get(nameOf(rung.record));
      if (step === undefined || this.#bad.has(step)) return;
      const key = keyNameOf(step.to, step.check);
      if (!targets.has(key) && !isListed) {
        isListed = true;
        await quietly(this.#records.list(null));
        targets = this.#byKey();
      }
      const next = await this.#take(view, { rung, step, targets: targets.get(key) ?? [] });
      if (next === null) {
        this.#bad.add(step);
        return;
      }
      rung = next;
    }
  }

  /** null: it leads to no key of this vault, or to another one than it names. */
  async #take(view: VaultView, { rung, step, targets }: Taken): Promise<OpenedVaultKey | null> {
    const known = this.#rungs.get(nameOf(step.to));
    if (known !== undefined && targets.some((target) => isSameKey(known.record, target))) return known;
    for (const target of targets) {
      try {
        const opened = await openLadderStep(this.#session.platform, view, rung, step, target);
        this.note(opened);
        return opened;
      } catch (error) {
        if (!(error instanceof CryptoError)) throw error;
      }
    }
    return null;
  }

  #byKey(): ReadonlyMap<string, readonly VaultKeyRecord[]> {
    const targets = new Map<string, VaultKeyRecord[]>();
    for (const record of this.#records.known.values()) {
      const name = keyNameOf(record, record.check);
      targets.set(name, [...(targets.get(name) ?? []), record]);
    }
    return targets;
  }

  /** Callers that ask at once share one call. If the service does not answer, there are no steps. */
  #list(): Promise<void> {
    this.#listing ??= this.#listAll().finally(() => (this.#listing = null));
    return this.#listing;
  }

  async #listAll(): Promise<void> {
    const params = { vaultId: this.#vaultId };
    const { steps: list } = vaultKeysGroup;
    const load = (place: PagePlace) =>
      callOn(this.#session.connection, list, { params, query: { limit: PAGE, ...place } });
    const read = async (): Promise<void> => {
      for await (const { steps } of everyPage(list.id, load, MOST_KEPT_PAGES))
        for (const text of steps) this.#read(text);
    };
    await quietly(read());
    this.#isListed = true;
  }

  #read(text: string): void {
    try {
      const step = parseLadderStep(fromBase64(text) ?? new Uint8Array());
      this.#steps.set(nameOf(step.from), step);
    } catch (error) {
      if (!(error instanceof CryptoError)) throw error;
    }
  }
}

interface Missing {
  readonly from: OpenedVaultKey;
  readonly to: OpenedVaultKey;
  readonly step: LadderStep;
}

interface Taken {
  readonly rung: OpenedVaultKey;
  readonly step: LadderStep;
  /** Records of the key that the step names. */
  readonly targets: readonly VaultKeyRecord[];
}

function nameOf(place: Place): string {
  return toHex(encodePlace(place));
}

function keyNameOf(place: Place, check: Uint8Array): string {
  return `${nameOf(place)} ${toHex(check)}`;
}

function isSameKey(a: VaultKeyRecord, b: VaultKeyRecord): boolean {
  return keyNameOf(a, a.check) === keyNameOf(b, b.check);
}

function isBelow(record: Place, limit: Place | undefined): boolean {
  return limit === undefined || comparePlaces(record, limit) < 0;
}

/** null: the service refused it, or did not answer. */
async function quietly<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof SdkError) return null;
    throw error;
  }
}

async function isTrue(view: VaultView, record: VaultKeyRecord): Promise<boolean> {
  try {
    await verifyRecord(view, record);
    return true;
  } catch (error) {
    if (error instanceof CryptoError) return false;
    throw error;
  }
}
