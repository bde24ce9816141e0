/** One shared vault as its files need it: the view of the chain, and the vault keys that are open. */
import { findMember, toVaultView, type ReadOptions, type VaultObject } from "@coffer/chain";
import { findSigner, isMemberIn, placeOf, type Author, type Place, type VaultView } from "@coffer/crypto";
import { bytesOf } from "../addresses.ts";
import { KeyRing } from "./key-ring.ts";
import type { OwnedKeys } from "./owned-keys.ts";
import { describeEnd, hasEnded } from "../members/membership-end.ts";
import type { OpenVault } from "../open-vault.ts";
import { healingStep, openSeenNumbers, type SeenNumbers } from "../trust/seen-numbers.ts";
import type { VaultPin } from "../trust/pins.ts";
import { seenBy, type SeenMemory } from "../trust/seen-memory.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms } from "../vault-terms.ts";
import type { VaultSession } from "../session.ts";

/** `owned`: the client's, at the time of the call; it forgets them together with those of its other vaults. */
export async function openVault(session: VaultSession, pin: VaultPin, owned: OwnedKeys): Promise<OpenVault> {
  const chainObjectId = pin.chainObjectId ?? "";
  const objectId = bytesOf(chainObjectId);
  const memory = await session.seen(chainObjectId);
  const numbers = openSeenNumbers(session, pin);
  const viewer = openViewer(session, pin, numbers, memory);
  const keys = new KeyRing(session, pin, { view: viewer, author: (view) => authorBy(view), numbers }, owned);
  const noteSigned = (place: Place): void => {
    numbers.recordSigned(place);
  };
  const requireNewest = (view: VaultView) => numbers.requireNewest(view, () => viewer({ maxAge: 0 }));
  // A view never changes, so neither does who signs by it: an upload asks three times.
  const authors = new WeakMap<VaultView, Author>();
  const authorBy = (view: VaultView): Author => {
    const author = authors.get(view) ?? requireAuthor(session, pin, view);
    authors.set(view, author);
    return author;
  };
  session.wrap().prepare();
  await viewer();
  return {
    id: pin.vaultId,
    pin,
    objectId,
    platform: session.platform,
    seen: seenBy(memory, noteSigned),
    author: async (view) => authorBy(view ?? (await viewer())),
    view: viewer,
    writingKey: (view, use) =>
      inVaultTerms(async () => {
        await requireNewest(view);
        return keys.forWriting(view, await numbers.writingPlace(view), use);
      }),
    requireNewest,
    forgetWritingKey: () => {
      keys.forgetWriting();
    },
    openKeys: (records) => inVaultTerms(() => keys.open(records)),
    findKey: (record) => keys.find(record),
    record: (keyId, generation) => inVaultTerms(() => keys.record(keyId, generation)),
  };
}

type Viewer = (options?: ReadOptions) => Promise<VaultView>;

/** Never below the highest generation and floor that any run of this client has confirmed, and always of the pinned owner. */
function openViewer(session: VaultSession, pin: VaultPin, numbers: SeenNumbers, memory: SeenMemory): Viewer {
  const { chain, signer } = session;
  const chainObjectId = pin.chainObjectId ?? "";
  const nextSteps = { rolled_back: healingStep(pin.vaultId) };
  let currentPin = pin;
  /** The last read that names the signer. What it shows was looked at: a list asks for each of its items. */
  let lastRead: { readonly vault: VaultObject; readonly view: VaultView } | null = null;
  return (options = {}) =>
    inVaultTerms(async () => {
      // A view comes before all verification: other processes' notes count from here on.
      await memory.refresh();
      const { generation, floor: minFloor, base: minBase = 0n } = await numbers.confirmed();
      const least = options.minGeneration ?? 0n;
      const required = { ...options, minGeneration: least > generation ? least : generation, minFloor, minBase };
      const remembered = await chain.readVault(chainObjectId, required);
      if (remembered === lastRead?.vault) {
        await numbers.record(lastRead.vault, lastRead.view);
        return lastRead.view;
      }
      // A member added, or kept on, a moment ago must not fail because of an earlier read.
      const vault = isNamed(remembered, signer)
        ? remembered
        : await chain.readVault(chainObjectId, { ...required, maxAge: 0 });
      currentPin = await requireHeld(session, currentPin, vault);
      const view = viewOf(vault);
      await numbers.record(vault, view);
      if (isNamed(vault, signer)) lastRead = { vault, view };
      return view;
    }, nextSteps);
}

/**
 * The owner's pin: the given one, or one that a user has trusted in another process since.
 * @throws VaultError `vault_changed`.
 */
export async function requireHeld(session: VaultSession, pin: VaultPin, vault: VaultObject): Promise<VaultPin> {
  const owner = vault.owner.chainAddress;
  const holds = ({ ownerAddress }: VaultPin) => ownerAddress === null || ownerAddress === owner;
  // Only this signer can have made it the owner: a process that did may have ended before it could pin that.
  if (holds(pin) || owner === session.signer.chainAddress) return pin;
  const now = await session.pins.load(pin.origin, pin.vaultId);
  if (now !== null && now.chainObjectId === pin.chainObjectId && holds(now)) return now;
  throw vaultError("vault_changed", `The vault's owner was ${pin.ownerAddress}, and is ${owner} now`, {
    nextStep:
      "Ask both owners, over another way than the service, whether the vault was handed on; if so, call vaults.trustOwner with the new address.",
  });
}

function isNamed(vault: VaultObject, { chainAddress, statements }: VaultSession["signer"]): boolean {
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
function requireAuthor({ signer }: VaultSession, { vaultId }: VaultPin, view: VaultView): Author {
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
