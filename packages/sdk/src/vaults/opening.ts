/** One shared vault as its files need it: the view of the chain, and the vault keys that are open. */
import { vaultKeysGroup } from "@coffer/contract/shared-vaults";
import type { VaultKeyRecord as ListedRecord } from "@coffer/contract";
import { toVaultView, type ReadOptions } from "@coffer/chain";
import {
  CryptoError,
  isRecordForWriting,
  newVaultKeyRecord,
  openVaultKeys,
  parseRecord,
  verifyRecord,
  type Author,
  type VaultKey,
  type VaultKeyRecord,
  type VaultView,
} from "@coffer/crypto";
import { callOn } from "../call.ts";
import { fromBase64, toBase64, toHex } from "../digest.ts";
import { isApiError } from "../errors.ts";
import { bytesOf } from "./addresses.ts";
import type { OpenVault, WritingKey } from "./open-vault.ts";
import type { VaultPin } from "./pins.ts";
import { rememberSeen } from "./seen.ts";
import { inVaultTerms, VaultError } from "./vault-error.ts";
import type { VaultSession } from "./session.ts";

export async function openVault(session: VaultSession, pin: VaultPin): Promise<OpenVault> {
  const chainObjectId = pin.chainObjectId ?? "";
  const objectId = bytesOf(chainObjectId);
  const viewer = openViewer(session, pin, chainObjectId);
  const keys = new KeyRing(session, pin, viewer);
  await viewer();
  return {
    ...{ id: pin.vaultId, pin, objectId, platform: session.platform, seen: rememberSeen() },
    author: () => Promise.resolve(authorOf(session)),
    view: viewer,
    writingKey: (view) => inVaultTerms(() => keys.forWriting(view)),
    openKeys: (records) => inVaultTerms(() => keys.open(records)),
    findKey: (record) => keys.find(record),
    record: (keyId) => inVaultTerms(() => keys.record(keyId)),
  };
}

type Viewer = (options?: ReadOptions) => Promise<VaultView>;

/** Never below the highest generation that any run of this client has seen, and of the owner that was pinned. */
function openViewer({ chain, pins }: VaultSession, pin: VaultPin, chainObjectId: string): Viewer {
  let seen: bigint | null = null;
  return (options = {}) =>
    inVaultTerms(async () => {
      seen ??= (await pins.loadGeneration(chainObjectId)) ?? 0n;
      const floor = options.minGeneration ?? 0n;
      const vault = await chain.readVault(chainObjectId, { ...options, minGeneration: floor > seen ? floor : seen });
      const owner = vault.owner.chainAddress;
      if (pin.ownerAddress !== null && owner !== pin.ownerAddress)
        throw new VaultError("vault_changed", `The vault's owner was ${pin.ownerAddress}, and is ${owner} now`);
      if (vault.generation > seen) {
        seen = vault.generation;
        await pins.saveGeneration(chainObjectId, seen);
      }
      return toVaultView(vault);
    });
}

function authorOf({ signer }: VaultSession): Author {
  if (signer.statements === undefined)
    throw new VaultError("signing_key_missing", "The signer has no key that signs statements");
  return { address: bytesOf(signer.chainAddress), signer: signer.statements };
}

/** The vault's key records and their keys, in memory only. */
class KeyRing {
  readonly #session: VaultSession;
  readonly #pin: VaultPin;
  readonly #view: Viewer;
  readonly #records = new Map<string, VaultKeyRecord>();
  /** By key id; a promise, so that readers who ask at once share one request. */
  readonly #keys = new Map<string, Promise<VaultKey>>();
  /** By generation: one writer publishes, the others wait for it. */
  readonly #writing = new Map<bigint, Promise<WritingKey>>();

  constructor(session: VaultSession, pin: VaultPin, view: Viewer) {
    this.#session = session;
    this.#pin = pin;
    this.#view = view;
  }

  /** Opens what is not open yet, with one request per key server for all of them. */
  async open(records: readonly VaultKeyRecord[]): Promise<void> {
    const unique = new Map(records.map((record) => [toHex(record.keyId), record]));
    const missing = [...unique].filter(([keyId]) => !this.#keys.has(keyId));
    if (missing.length > 0) {
      const opening = this.#openAll(missing.map(([, record]) => record));
      for (const [at, [keyId]] of missing.entries())
        this.#remember(
          keyId,
          opening.then((keys) => keyAt(keys, at)),
        );
    }
    for (const keyId of unique.keys()) await this.#keys.get(keyId);
  }

  async find(record: VaultKeyRecord): Promise<VaultKey> {
    await this.open([record]);
    const key = this.#keys.get(toHex(record.keyId));
    if (key === undefined) throw new TypeError("the key was opened a moment ago");
    return key;
  }

  /** A record by its id: from memory, or from the service's list. What it lists is verified when it is used. */
  async record(keyId: Uint8Array): Promise<VaultKeyRecord> {
    const id = toHex(keyId);
    const known = this.#records.get(id) ?? (await this.#list(null), this.#records.get(id));
    if (known === undefined)
      throw new CryptoError("damaged", "record", "the service does not list the vault key that was signed");
    return known;
  }

  forWriting(view: VaultView): Promise<WritingKey> {
    const known = this.#writing.get(view.generation);
    if (known !== undefined) return known;
    const finding = this.#findForWriting(view);
    this.#writing.set(view.generation, finding);
    finding.catch(() => this.#writing.delete(view.generation));
    return finding;
  }

  async #findForWriting(view: VaultView): Promise<WritingKey> {
    const current = (await this.#list(view.generation)).find((listed) => listed.current);
    if (current === undefined) return this.#publish(view, undefined);
    const usable = await this.#useForWriting(view, current);
    return usable ?? this.#publish(view, current.keyId);
  }

  /** null: the record does not verify or open, and may be replaced (encryption design §2, records). */
  async #useForWriting(view: VaultView, { keyId }: ListedRecord): Promise<WritingKey | null> {
    const record = this.#records.get(keyId);
    if (record === undefined) return null;
    try {
      if (!isRecordForWriting(view, record)) return null;
      await verifyRecord(view, record);
      return { record, key: await this.find(record) };
    } catch (error) {
      if (error instanceof CryptoError && (error.code === "damaged" || error.code === "wrong_key")) return null;
      throw error;
    }
  }

  async #publish(view: VaultView, replaces: string | undefined): Promise<WritingKey> {
    const { connection } = this.#session;
    const made = await newVaultKeyRecord(view, this.#session.wrap(), authorOf(this.#session));
    const body = { record: toBase64(made.record.bytes), ...(replaces === undefined ? {} : { replaces }) };
    const params = { vaultId: this.#pin.vaultId };
    try {
      await callOn(connection, vaultKeysGroup.publish, { params, body });
    } catch (error) {
      if (!isApiError(error) || error.code !== "key_exists") throw error;
      const winner = (await this.#list(view.generation)).find((listed) => listed.current);
      const adopted = winner === undefined ? null : await this.#useForWriting(view, winner);
      if (adopted === null) throw error;
      return adopted;
    }
    const keyId = toHex(made.record.keyId);
    this.#records.set(keyId, made.record);
    this.#remember(keyId, Promise.resolve(made.key));
    return made;
  }

  async #list(generation: bigint | null): Promise<ListedRecord[]> {
    const { connection } = this.#session;
    const params = { vaultId: this.#pin.vaultId };
    const filter = generation === null ? {} : { generation: String(generation) };
    const listed: ListedRecord[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const query = { ...filter, limit: 100, ...(cursor === undefined ? {} : { cursor }) };
      const page = await callOn(connection, vaultKeysGroup.list, { params, query });
      listed.push(...page.keys);
      cursor = page.nextCursor;
    }
    for (const each of listed) this.#note(each);
    return listed;
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

  async #openAll(records: readonly VaultKeyRecord[]): Promise<readonly VaultKey[]> {
    const highest = records.reduce((most, { generation }) => (generation > most ? generation : most), 0n);
    const view = await this.#view({ hintedGeneration: highest });
    return (await openVaultKeys(view, records, this.#session.wrap())).map(({ key }) => key);
  }

  #remember(keyId: string, key: Promise<VaultKey>): void {
    this.#keys.set(keyId, key);
    key.catch(() => this.#keys.delete(keyId));
  }
}

function keyAt(keys: readonly VaultKey[], at: number): VaultKey {
  const key = keys[at];
  if (key === undefined) throw new TypeError("fewer keys were opened than asked for");
  return key;
}
