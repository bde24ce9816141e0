/**
 * The ladder of a vault's keys (encryption design §7, §9.1). The key servers open the newest key. Steps that the service
 * keeps open the older ones here. The ladder is a shortcut and never a condition: keys that it does not reach come from
 * the key servers. Readers write no steps: only who makes a key lays steps down from it.
 */
import { MAX_STEPS, vaultKeysGroup } from "@coffer/contract";
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
import { callOn } from "../../http/call.ts";
import { fromBase64, toBase64, toHex } from "../../transfer/digest.ts";
import { SdkError } from "../../http/errors.ts";
import { everyPage, MAX_PAGES_IN_MEMORY, type PageCursor } from "../../http/every-page.ts";
import type { VaultRegistry } from "../vault-registry.ts";
import type { RecordList } from "./record-list.ts";
import type { OwnedKeys } from "./owned-keys.ts";

/** The most steps of one answer: 200 bytes each. */
const PAGE = 1000;

/** How long it does not ask again for a newest key that did not open, in milliseconds: its key servers may be away. */
const HEAD_PAUSE = 10_000;

/** How long a new key waits for older ones to lead to, in milliseconds: without them readers ask for one key more. */
const STEPS_PATIENCE = 5_000;

/** The keys of those records that open at the key servers. */
type OpenHeads = (view: VaultView, records: readonly VaultKeyRecord[]) => Promise<readonly OpenedVaultKey[]>;

/** A step as a new record brings it. */
interface DownStep {
  readonly step: string;
  readonly to: string;
}

export class Ladder {
  readonly #registry: VaultRegistry;
  readonly #vaultId: string;
  readonly #records: RecordList;
  readonly #openHeads: OpenHeads;
  readonly #owned: OwnedKeys;
  /** By place and check: open keys. */
  readonly #rungs = new Map<string, OpenedVaultKey>();
  /** By the place where they begin, and then by their bytes. */
  readonly #steps = new Map<string, Map<string, LadderStep>>();
  /** Steps that do not open what they name. */
  readonly #bad = new Set<LadderStep>();
  #listing: Promise<void> | null = null;
  #isListed = false;
  #pausedUntil = 0;

  constructor(registry: VaultRegistry, vaultId: string, records: RecordList, owned: OwnedKeys, openHeads: OpenHeads) {
    this.#registry = registry;
    this.#vaultId = vaultId;
    this.#records = records;
    this.#owned = owned;
    this.#openHeads = openHeads;
  }

  /**
   * Keys of those records that are open, or that it reaches from above, by key id. Asks nobody if all are at the
   * vault's place now. Where no step leads on from the newest key, it goes on from the keys that lead there.
   */
  async open(view: VaultView, records: readonly VaultKeyRecord[]): Promise<ReadonlyMap<string, OpenedVaultKey>> {
    const reached = new Map<string, OpenedVaultKey>();
    const now = placeOf(view);
    const below = records.filter((record) => isOnLadder(view, record) && comparePlaces(record, now) < 0);
    const [lowest] = below.toSorted(comparePlaces);
    if (lowest === undefined) return reached;
    const top = await this.#top(view, below);
    if (top === null) return reached;
    await this.#climb(view, top, lowest);
    const heads = await this.#headsAbove(view, below);
    for (const head of heads.length === 0 ? [] : await this.#openHeads(view, heads)) {
      this.add(head);
      await this.#climb(view, head, lowest);
    }
    for (const record of records) {
      const rung = this.#rungs.get(nameOf(record));
      if (rung !== undefined && (await isTrue(view, record)))
        reached.set(toHex(record.keyId), { record, key: rung.key });
    }
    return reached;
  }

  /** A key opened at the key servers, or made. A climb begins or goes on there. */
  add(opened: OpenedVaultKey): void {
    this.#rungs.set(nameOf(opened.record), opened);
  }

  /**
   * Steps from a key that this call has made, down to the head of every run of older keys that no step reaches. There
   * are at most sixteen, the highest first. An older key that does not open soon is left to the next maker.
   */
  async stepsFrom(view: VaultView, newKey: OpenedVaultKey): Promise<readonly DownStep[]> {
    const heads = await this.#heads(view, newKey.record);
    await this.#openSoon(
      view,
      heads.filter((head) => !this.#rungs.has(nameOf(head))),
    );
    const steps: DownStep[] = [];
    for (const head of heads) {
      const rung = this.#rungs.get(nameOf(head));
      if (rung === undefined) continue;
      const { bytes } = await makeLadderStep(this.#registry.platform, newKey.key, rung.key);
      steps.push({ step: toBase64(bytes), to: toHex(head.keyId) });
    }
    return steps;
  }

  /** Below the place: true keys to which no step leads from a true one. */
  async #heads(view: VaultView, place: Place): Promise<readonly VaultKeyRecord[]> {
    // Others have laid steps since they were listed, and so has this process.
    const [below] = await Promise.all([this.#current(view, place), this.#list()]);
    const reached = new Set<string>();
    for (const record of below) for (const step of this.#stepsAt(record)) reached.add(keyNameOf(step.to, step.check));
    return below.filter((record) => !reached.has(nameOf(record))).slice(0, MAX_STEPS);
  }

  /** Never a reason to fail, nor to wait for long: the service may list many records that open nowhere. */
  async #openSoon(view: VaultView, heads: readonly VaultKeyRecord[]): Promise<void> {
    if (heads.length === 0) return;
    const opening = this.#openHeads(view, heads).then(
      (opened) => {
        for (const each of opened) this.add(each);
      },
      () => undefined,
    );
    const { clock } = this.#registry.connection;
    let cancel = (): void => undefined;
    const patience = new Promise<void>((resolve) => (cancel = clock.after(STEPS_PATIENCE, resolve)));
    await Promise.race([opening, patience]).finally(cancel);
  }

  /** The key to climb from: an open one above all wanted keys, else the newest of the vault. */
  async #top(view: VaultView, records: readonly VaultKeyRecord[]): Promise<OpenedVaultKey | null> {
    const [highest] = records.toSorted((a, b) => comparePlaces(b, a));
    const open = [...this.#rungs.values()].toSorted((a, b) => comparePlaces(b.record, a.record))[0];
    if (highest === undefined || this.#pausedUntil > this.#registry.clock()) return null;
    if (open !== undefined && comparePlaces(open.record, highest) >= 0) {
      if (!this.#isListed) await this.#list();
      return open;
    }
    const [[head]] = await Promise.all([this.#current(view), this.#list()]);
    const [opened = null] = head === undefined ? [] : await this.#openHeads(view, [head]);
    if (opened === null) this.#pausedUntil = this.#registry.clock() + HEAD_PAUSE;
    else this.add(opened);
    return opened;
  }

  /** The true records that the service calls current, perhaps only those below a place, from the newest down; none without an answer. */
  async #current(view: VaultView, below?: Place): Promise<readonly VaultKeyRecord[]> {
    const listed = (await quietly(this.#records.list(null))) ?? [];
    const records: VaultKeyRecord[] = [];
    for (const { keyId, current } of listed) {
      const record = current ? this.#records.byId.get(keyId) : undefined;
      if (record === undefined || !isOnLadder(view, record) || !isBelow(record, below)) continue;
      if (await isTrue(view, record)) records.push(record);
    }
    return records.toSorted((a, b) => comparePlaces(b, a));
  }

  /** Climbs down to `lowest`, on every way and as far as good steps lead. */
  async #climb(view: VaultView, top: OpenedVaultKey, lowest: Place): Promise<void> {
    let targets = this.#byKey();
    let isListed = false;
    const rungs = [top];
    const visited = new Set<string>();
    for (const rung of rungs)
      for (const step of this.#stepsAt(rung.record)) {
        const key = keyNameOf(step.to, step.check);
        if (visited.has(key) || comparePlaces(step.to, lowest) < 0) continue;
        if (!targets.has(key) && !isListed) {
          isListed = true;
          await quietly(this.#records.list(null));
          targets = this.#byKey();
        }
        const next = await this.#openStep(view, { rung, step, targets: targets.get(key) ?? [] });
        if (next === null) this.#bad.add(step);
        else {
          visited.add(key);
          rungs.push(next);
        }
      }
  }

  /** The steps down from a place that are not known to be bad. */
  #stepsAt(place: Place): readonly LadderStep[] {
    const steps = this.#steps.get(placeNameOf(place))?.values() ?? [];
    return [...steps].filter((step) => !this.#bad.has(step));
  }

  /**
   * The keys at the upper ends of the ways that lead to closed ones: one for each gap. A key that is such an end itself
   * is left to its caller.
   */
  async #headsAbove(view: VaultView, records: readonly VaultKeyRecord[]): Promise<readonly VaultKeyRecord[]> {
    const closed = records.filter((record) => !this.#rungs.has(nameOf(record)));
    if (closed.length === 0) return [];
    const above = new Map<string, LadderStep>();
    for (const steps of this.#steps.values())
      for (const step of steps.values()) if (!this.#bad.has(step)) above.set(keyNameOf(step.to, step.check), step);
    const current = new Map((await this.#current(view)).map((record) => [placeNameOf(record), record]));
    const heads = new Map<string, VaultKeyRecord>();
    for (const record of closed) {
      let head = record;
      for (let step = above.get(nameOf(head)); step !== undefined; step = above.get(nameOf(head))) {
        const higher = current.get(placeNameOf(step.from));
        if (higher === undefined || this.#rungs.has(nameOf(higher))) break;
        head = higher;
      }
      if (head !== record) heads.set(nameOf(head), head);
    }
    return [...heads.values()];
  }

  /** null: it leads to no key of this vault, or to another one than it names. */
  async #openStep(view: VaultView, { rung, step, targets }: StepToOpen): Promise<OpenedVaultKey | null> {
    for (const target of targets) {
      const open = this.#rungs.get(nameOf(target));
      if (open !== undefined) return open;
      try {
        const opened = await openLadderStep(this.#registry.platform, view, rung, step, target);
        this.#owned.own(opened.key);
        this.add(opened);
        return opened;
      } catch (error) {
        if (!(error instanceof CryptoError)) throw error;
      }
    }
    return null;
  }

  #byKey(): ReadonlyMap<string, readonly VaultKeyRecord[]> {
    const targets = new Map<string, VaultKeyRecord[]>();
    for (const record of this.#records.byId.values()) {
      const name = nameOf(record);
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
    const load = (place: PageCursor) =>
      callOn(this.#registry.connection, list, { params, query: { limit: PAGE, ...place } });
    const read = async (): Promise<void> => {
      for await (const { steps } of everyPage(list.id, load, MAX_PAGES_IN_MEMORY))
        for (const text of steps) this.#read(text);
    };
    await quietly(read());
    this.#isListed = true;
  }

  #read(text: string): void {
    try {
      const step = parseLadderStep(fromBase64(text) ?? new Uint8Array());
      const name = placeNameOf(step.from);
      const steps = this.#steps.get(name) ?? new Map<string, LadderStep>();
      if (!steps.has(text)) steps.set(text, step);
      this.#steps.set(name, steps);
    } catch (error) {
      if (!(error instanceof CryptoError)) throw error;
    }
  }
}

interface StepToOpen {
  readonly rung: OpenedVaultKey;
  readonly step: LadderStep;
  /** Records of the key that the step names. */
  readonly targets: readonly VaultKeyRecord[];
}

function placeNameOf(place: Place): string {
  return toHex(encodePlace(place));
}

function keyNameOf(place: Place, check: Uint8Array): string {
  return `${placeNameOf(place)} ${toHex(check)}`;
}

/** The name of a record's key, which other records may share. */
function nameOf(record: VaultKeyRecord): string {
  return keyNameOf(record, record.check);
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
