/**
 * Keys in the keychain of the system: macOS' Keychain, Windows' Credential Manager, the Secret Service elsewhere. The package
 * that opens it is an optional peer, and is loaded when a key is wanted of it.
 */
import { isError } from "@coffer/contract";
import { createRequire } from "node:module";
import { SdkError } from "../../http/errors.ts";
import { Secret } from "../../http/secret.ts";

/** What `@napi-rs/keyring` has. */
interface Keyring {
  readonly Entry: new (service: string, account: string, options: typeof OPTIONS) => Entry;
}

interface Entry {
  getPassword(): string | null;
  setPassword(text: string): void;
  deletePassword(): boolean;
}

export interface Keychain {
  /** null: it has none. */
  get(account: string): string | null;
  set(account: string, text: string): void;
  delete(account: string): void;
}

const PACKAGE = "@napi-rs/keyring";
const SERVICE = "coffer";
/** Without it, where no Secret Service answers, keys would go to the kernel's keyring, which a restart empties. */
const OPTIONS = { linux: { store: "secret-service" } } as const;

/** Tests put a keychain of their own here. */
export const SYSTEM: { open: () => Keychain } = { open: openKeychain };

/** @throws SdkError `keychain_unusable`, here and of each call: it says what to do. */
function openKeychain(): Keychain {
  const { Entry } = load();
  const act = <Result>(account: string, does: (entry: Entry) => Result): Result => {
    try {
      return does(new Entry(SERVICE, account, OPTIONS));
    } catch (error) {
      throw closed(isError(error) ? error.message : "unknown reason");
    }
  };
  return {
    get: (account) => act(account, (entry) => entry.getPassword()),
    set: (account, text) => {
      act(account, (entry) => {
        entry.setPassword(text);
      });
    },
    delete: (account) => void act(account, (entry) => entry.deletePassword()),
  };
}

function load(): Keyring {
  try {
    return createRequire(import.meta.url)(PACKAGE) as Keyring;
  } catch {
    throw unusable(
      `The system's keychain needs the package ${PACKAGE}, which is not beside this program: npm install -g ${PACKAGE}. ` +
        "A program in one file, and a bundle, have no place for it: their keys are in the file, or in SERVICE_API_KEY and SERVICE_CHAIN_PRIVATE_KEY",
    );
  }
}

const closed = (why: string): SdkError =>
  unusable(
    `The system's keychain cannot be used (${why}). Unlock it, or set SERVICE_API_KEY and SERVICE_CHAIN_PRIVATE_KEY instead`,
  );

function unusable(message: string): SdkError {
  const nextStep = "Open the keychain, or keep the keys in the file.";
  return new SdkError(message, { code: "keychain_unusable", retryable: false, nextStep });
}

/** A key that is read when it is first used, and never before. */
export class KeychainSecret extends Secret {
  readonly account: string;
  #text: string | undefined;

  constructor(account: string) {
    super("");
    this.account = account;
  }

  /** @throws SdkError `keychain_unusable` when the keychain cannot be opened, or has no such key. */
  override reveal(): string {
    this.#text ??= this.#read();
    return this.#text;
  }

  #read(): string {
    const text = SYSTEM.open().get(this.account);
    if (text !== null) return text;
    throw unusable(
      `The system's keychain has no "${this.account}" any more: sign in again, or import the chain key from its backup`,
    );
  }
}

/** Puts a key in and takes it out again: nothing else says that it is there. */
export function storeInKeychain(account: string, secret: Secret): void {
  const keychain = SYSTEM.open();
  keychain.set(account, secret.reveal());
  if (keychain.get(account) !== secret.reveal()) throw closed("it gives back something else than it got");
}
