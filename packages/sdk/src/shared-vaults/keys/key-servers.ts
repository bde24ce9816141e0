/** Asking key servers for vault keys: once for all that callers want at once, and one by one for those refused in a group. */
import {
  CryptoError,
  findSigner,
  openVaultKeys,
  type VaultKey,
  type VaultKeyRecord,
  type VaultKeyWrap,
  type VaultView,
} from "@coffer/crypto";
import { toHex } from "../../transfer/digest.ts";
import type { OwnedKeys } from "./owned-keys.ts";

/** How many keys one request to a key server may ask for. */
const MOST_AT_ONCE = 100;

/** `isPassing`: the chain's node did not name who made or sealed the key, which a later read may do. */
export type OpenOutcome = { readonly key: VaultKey } | { readonly refused: CryptoError; readonly isPassing: boolean };

export class KeyServers {
  readonly #wrap: () => VaultKeyWrap;
  readonly #owned: OwnedKeys;
  /** Requests on their way, by key id. */
  readonly #pending = new Map<string, Promise<OpenOutcome>>();

  constructor(wrap: () => VaultKeyWrap, owned: OwnedKeys) {
    this.#wrap = wrap;
    this.#owned = owned;
  }

  /** In the order of the records. Callers that ask for the same at once share the answer; nothing here waits for anything else. */
  async open(view: VaultView, records: readonly VaultKeyRecord[]): Promise<readonly OpenOutcome[]> {
    const missing = records.filter(({ keyId }) => !this.#pending.has(toHex(keyId)));
    for (let from = 0; from < missing.length; from += MOST_AT_ONCE) {
      const batch = missing.slice(from, from + MOST_AT_ONCE);
      const opening = this.#openOf(view, batch);
      for (const [at, { keyId }] of batch.entries()) {
        const id = toHex(keyId);
        const one = opening.then((opened) => openedAt(opened, at)).finally(() => this.#pending.delete(id));
        this.#pending.set(id, one);
      }
    }
    return Promise.all(records.flatMap(({ keyId }) => this.#pending.get(toHex(keyId)) ?? []));
  }

  /** All at once; when one of them is refused, in halves, until the refused ones are alone. */
  async #openOf(view: VaultView, records: readonly VaultKeyRecord[]): Promise<readonly OpenOutcome[]> {
    try {
      return (await openVaultKeys(view, records, this.#wrap())).map(({ key }) => ({ key: this.#owned.own(key) }));
    } catch (error) {
      if (!(error instanceof CryptoError)) throw error;
      const [one] = records;
      if (one !== undefined && records.length === 1)
        return [
          {
            refused: error,
            isPassing: [one.maker, one.creator].some((address) => findSigner(view, address, one) === null),
          },
        ];
      const half = Math.ceil(records.length / 2);
      const first = await this.#openOf(view, records.slice(0, half));
      return [...first, ...(await this.#openOf(view, records.slice(half)))];
    }
  }
}

export function openedAt(opened: readonly OpenOutcome[], at: number): OpenOutcome {
  const one = opened[at];
  if (one === undefined) throw new TypeError("fewer keys were opened than asked for");
  return one;
}
