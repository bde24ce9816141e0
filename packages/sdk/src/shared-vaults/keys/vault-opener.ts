/** One shared vault as its files need it: the view of the chain, and the vault keys that are open. */
import { findMember, toVaultView, type ReadOptions, type VaultObject } from "@coffer/chain";
import { findSigner, isMemberIn, placeOf, type Author, type CryptoPlatform, type VaultView } from "@coffer/crypto";
import { bytesOf } from "../addresses.ts";
import { KeyRing } from "./key-ring.ts";
import type { OwnedKeys } from "./owned-keys.ts";
import { describeEnd, hasEnded } from "../members/membership-end.ts";
import type { OpenVault } from "../open-vault.ts";
import { healingStep, SeenNumbers } from "../trust/seen-numbers.ts";
import type { VaultPin } from "../trust/pins.ts";
import { seenBy, type SeenMemory } from "../trust/seen-memory.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms } from "../vault-terms.ts";
import type { VaultRegistry } from "../vault-registry.ts";

/** `owned`: the client's, at the time of the call; it forgets them together with those of its other vaults. */
export async function openVault(registry: VaultRegistry, pin: VaultPin, owned: OwnedKeys): Promise<OpenVault> {
  const memory = await registry.seen(pin.chainObjectId ?? "");
  registry.wrap().prepare();
  const vault = new ChainVault(registry, pin, memory, owned);
  await vault.view();
  return vault;
}

/**
 * Its calls are fields, each bound to it: a caller's copy of a vault has some of its own, such as those that end with
 * the caller's signal.
 */
class ChainVault implements OpenVault {
  readonly id: string;
  readonly pin: VaultPin;
  readonly objectId: Uint8Array;
  readonly platform: CryptoPlatform;
  readonly seen: OpenVault["seen"];
  readonly #registry: VaultRegistry;
  readonly #numbers: SeenNumbers;
  readonly #viewer: VaultViewer;
  readonly #keys: KeyRing;
  /** A view never changes, so neither does who signs by it: an upload asks three times. */
  readonly #authors = new WeakMap<VaultView, Author>();

  constructor(registry: VaultRegistry, pin: VaultPin, memory: SeenMemory, owned: OwnedKeys) {
    this.id = pin.vaultId;
    this.pin = pin;
    this.objectId = bytesOf(pin.chainObjectId ?? "");
    this.platform = registry.platform;
    this.#registry = registry;
    this.#numbers = new SeenNumbers(registry, pin);
    this.#viewer = new VaultViewer(registry, pin, this.#numbers, memory);
    this.seen = seenBy(memory, (place) => {
      this.#numbers.recordSigned(place);
    });
    const ofVault = { view: this.view, author: (view: VaultView) => this.#authorBy(view), numbers: this.#numbers };
    this.#keys = new KeyRing(registry, pin, ofVault, owned);
  }

  readonly author: OpenVault["author"] = async (view) => this.#authorBy(view ?? (await this.view()));

  readonly view: OpenVault["view"] = (options) => this.#viewer.read(options);

  readonly requireNewest: OpenVault["requireNewest"] = (view) =>
    this.#numbers.requireNewest(view, () => this.view({ maxAge: 0 }));

  readonly writingKey: OpenVault["writingKey"] = (view, use) =>
    inVaultTerms(async () => {
      await this.requireNewest(view);
      return this.#keys.forWriting(view, await this.#numbers.writingPlace(view), use);
    });

  readonly forgetWritingKey: OpenVault["forgetWritingKey"] = () => {
    this.#keys.forgetWriting();
  };

  readonly openKeys: OpenVault["openKeys"] = (records) => inVaultTerms(() => this.#keys.open(records));

  readonly findKey: OpenVault["findKey"] = (record) => this.#keys.find(record);

  readonly record: OpenVault["record"] = (keyId, generation) =>
    inVaultTerms(() => this.#keys.record(keyId, generation));

  #authorBy(view: VaultView): Author {
    const author = this.#authors.get(view) ?? requireAuthor(this.#registry, this.pin, view);
    this.#authors.set(view, author);
    return author;
  }
}

/** Never below the highest generation and floor that any run of this client has confirmed, and always of the pinned owner. */
class VaultViewer {
  readonly #registry: VaultRegistry;
  readonly #numbers: SeenNumbers;
  readonly #memory: SeenMemory;
  readonly #objectId: string;
  readonly #nextSteps: { readonly rolled_back: string };
  /** The owner may be another one by now, whom a user has trusted in another process. */
  #pin: VaultPin;
  /** The last read that names the signer. What it shows was looked at: a list asks for each of its items. */
  #lastRead: { readonly vault: VaultObject; readonly view: VaultView } | null = null;

  constructor(registry: VaultRegistry, pin: VaultPin, numbers: SeenNumbers, memory: SeenMemory) {
    this.#registry = registry;
    this.#pin = pin;
    this.#numbers = numbers;
    this.#memory = memory;
    this.#objectId = pin.chainObjectId ?? "";
    this.#nextSteps = { rolled_back: healingStep(pin.vaultId) };
  }

  read(options: ReadOptions = {}): Promise<VaultView> {
    return inVaultTerms(() => this.#read(options), this.#nextSteps);
  }

  async #read(options: ReadOptions): Promise<VaultView> {
    const { chain, signer } = this.#registry;
    // A view comes before all verification: other processes' notes count from here on.
    await this.#memory.refresh();
    const { generation, floor: minFloor, base: minBase = 0n } = await this.#numbers.confirmed();
    const least = options.minGeneration ?? 0n;
    const required = { ...options, minGeneration: least > generation ? least : generation, minFloor, minBase };
    const remembered = await chain.readVault(this.#objectId, required);
    const last = this.#lastRead;
    if (remembered === last?.vault) {
      await this.#numbers.record(last.vault, last.view);
      return last.view;
    }
    // A member added, or kept on, a moment ago must not fail because of an earlier read.
    const vault = isNamed(remembered, signer)
      ? remembered
      : await chain.readVault(this.#objectId, { ...required, maxAge: 0 });
    this.#pin = await requireHeld(this.#registry, this.#pin, vault);
    const view = viewOf(vault);
    await this.#numbers.record(vault, view);
    if (isNamed(vault, signer)) this.#lastRead = { vault, view };
    return view;
  }
}

/**
 * The owner's pin: the given one, or one that a user has trusted in another process since.
 * @throws VaultError `vault_changed`.
 */
export async function requireHeld(registry: VaultRegistry, pin: VaultPin, vault: VaultObject): Promise<VaultPin> {
  const owner = vault.owner.chainAddress;
  const holds = ({ ownerAddress }: VaultPin) => ownerAddress === null || ownerAddress === owner;
  // Only this signer can have made it the owner: a process that did may have ended before it could pin that.
  if (holds(pin) || owner === registry.signer.chainAddress) return pin;
  const now = await registry.pins.load(pin.origin, pin.vaultId);
  if (now !== null && now.chainObjectId === pin.chainObjectId && holds(now)) return now;
  throw vaultError("vault_changed", `The vault's owner was ${pin.ownerAddress}, and is ${owner} now`, {
    nextStep:
      "Ask both owners, over another way than the service, whether the vault was handed on; if so, call vaults.trustOwner with the new address.",
  });
}

function isNamed(vault: VaultObject, { chainAddress, statements }: VaultRegistry["signer"]): boolean {
  const member = findMember(vault, chainAddress);
  if (member === null || hasEnded(member, vault.asOf)) return false;
  return statements === undefined || isSame(member.signingKey, statements.publicKey);
}

/** Both have 32 bytes and are public. Texts of them would cost much: a list may have thousands of members. */
function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.every((byte, at) => byte === other[at]);
}

const views = new WeakMap<VaultObject, VaultView>();

/** One conversion per read: a list asks for each of its items, and a vault may name thousands of addresses. */
function viewOf(vault: VaultObject): VaultView {
  const cached = views.get(vault) ?? toVaultView(vault);
  views.set(vault, cached);
  return cached;
}

/** When the access of an address ended; null: it has not, or the allowlist does not name it. */
function endOf({ members, time }: VaultView, address: Uint8Array): bigint | null {
  const entry = members.find((member) => isSame(member.address, address));
  return entry !== undefined && (entry.until !== null || entry.endsAt <= time) ? entry.endsAt : null;
}

/** Checked before anything is encrypted: a client that cannot sign cannot write. */
function requireAuthor({ signer }: VaultRegistry, { vaultId }: VaultPin, view: VaultView): Author {
  const address = bytesOf(signer.chainAddress);
  const refuse = (message: string, nextStep?: string): never => {
    throw vaultError("signing_key_missing", message, nextStep === undefined ? {} : { nextStep });
  };
  if (signer.statements === undefined)
    return refuse(
      "The signer has no key that signs statements",
      "Give the signer one with statementSigner, and name it in the vault with vaults.setSigningKey.",
    );
  const end = endOf(view, address);
  if (end !== null) throw vaultError("membership_ended", describeEnd(end));
  if (!isMemberIn(view, address, placeOf(view)))
    throw vaultError("not_a_member", `The vault's allowlist does not name ${signer.chainAddress}`);
  const named = findSigner(view, address, placeOf(view));
  if (named === null)
    return refuse(
      `The vault names no signing key for ${signer.chainAddress}: it can read there, and not write`,
      `Call vaults.setSigningKey("${vaultId}") once with this signer: it is one transaction, whose fee the address pays. Then repeat it.`,
    );
  if (!isSame(named, signer.statements.publicKey))
    return refuse(`The vault names another signing key for ${signer.chainAddress} than this signer's`);
  return { address, signer: signer.statements };
}
