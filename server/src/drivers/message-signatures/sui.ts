/**
 * Personal messages as Sui's signers sign them, verified by `@mysten/sui`: secp256k1, secp256r1, passkeys and multisigs here, zkLogin by a
 * node of the chain.
 */
import type { PublicKey } from "@mysten/sui/cryptography";
import type { ChainConfig } from "../../config.ts";
import { ChainUnavailableError } from "../../ports/chain.ts";
import type { Clock } from "../../ports/clock.ts";
import type { MessageSignatures, SignatureVerdict, SignedMessage } from "../../ports/message-signatures.ts";
import { type ChainPin, pinChain } from "../chain/chain-pin.ts";
import { openSuiClient, readRecent, type RecentNode, type SuiClient } from "../chain/node.ts";

export interface SuiSignaturesOptions {
  readonly clock: Clock;
  /** In the place of the runtime's. */
  readonly fetch?: typeof fetch;
  /** Milliseconds that the node may take. */
  readonly timeout?: number;
  /** Shared with what else reads through the node; one of its own when absent. */
  readonly pin?: ChainPin;
}

const TIMEOUT = 5_000;

/** `chain` null: no zkLogin. Nothing is loaded, and no request is sent, before the first signature. */
export function openSuiSignatures(
  chain: ChainConfig | null,
  { clock, fetch: given = fetch, timeout = TIMEOUT, pin = pinChain(chain?.chainId ?? null) }: SuiSignaturesOptions,
): MessageSignatures {
  let client: Promise<SuiClient> | null = null;
  const ask: AskNode = (signed, until) =>
    withinTime(timeout, async (signal) => {
      client ??= openSuiClient(chain?.url ?? "", given);
      return askNode({ client: await client, clock, pin }, { signed, until, signal });
    });
  return {
    capabilities: { zklogin: chain !== null },
    verify: async (signed) => verify(signed, chain === null ? null : ask),
  };
}

/** `until`: the last epoch that the sign-in is good for. */
type AskNode = (signed: SignedMessage, until: bigint) => Promise<SignatureVerdict>;

async function verify(signed: SignedMessage, ask: AskNode | null): Promise<SignatureVerdict> {
  const parsed = await parse(signed.signature);
  if (typeof parsed === "string") return parsed;
  const { key, until } = parsed;
  if (until !== null && ask === null) return "unsupported";
  const isOwn = await holds(() => key.verifyAddress(signed.chainAddress));
  if (!isOwn) return "other_address";
  if (until !== null && ask !== null) return ask(signed, until);
  const isSigned = await holds(() => key.verifyPersonalMessage(signed.message, base64(signed.signature)));
  return isSigned ? "valid" : "invalid";
}

/** What the library cannot read does not hold. */
async function holds(check: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await check();
  } catch {
    return false;
  }
}

type Parsed = { readonly key: PublicKey; /** The last epoch, for zkLogin. */ readonly until: bigint | null };

/** The maker of the signature chose these bytes, and the library rejects them in many ways. */
async function parse(signature: Uint8Array): Promise<Parsed | "invalid" | "unsupported"> {
  const sui = await load();
  if (!TAKEN.includes(signature[0])) return "unsupported";
  try {
    const parsed = sui.parseSerializedSignature(base64(signature));
    switch (parsed.signatureScheme) {
      case "MultiSig":
        return parseMultisig(sui, parsed.multisig);
      case "ZkLogin":
        return { key: keyOf(sui, parsed), until: BigInt(parsed.zkLogin.maxEpoch) };
      case "Passkey":
        return parsed.userSignature[0] === SECP256R1 ? { key: keyOf(sui, parsed), until: null } : "invalid";
      default:
        return { key: keyOf(sui, parsed), until: null };
    }
  } catch {
    return "invalid";
  }
}

/** Sui's flag byte of that scheme; a passkey's own signature inside of its serialised one is of it. */
const SECP256R1 = 2;
/** And of secp256k1, multisig, zkLogin and passkeys. */
const TAKEN: readonly unknown[] = [1, SECP256R1, 3, 5, 6];

function keyOf(sui: Sui, { signatureScheme, publicKey }: { signatureScheme: string; publicKey: Uint8Array }) {
  return sui.publicKeyFromRawBytes(signatureScheme as "Secp256k1", publicKey);
}

type Multisig = Extract<ReturnType<Sui["parseSerializedSignature"]>, { signatureScheme: "MultiSig" }>["multisig"];

/**
 * The library counts no bits of the bitmap for which there is no signature, and reads a key as the kind that its
 * signature claims. It cannot verify zkLogin inside a multisig. For Ed25519 keys of small order one signature fits
 * every text. So anybody holds the address of a multisig with such a key (Chalkias, Garillot, Nikolaenko, "Taming the
 * many EdDSAs", SSR 2020).
 */
function parseMultisig(sui: Sui, multisig: Multisig): Parsed | "invalid" | "unsupported" {
  if (multisig.sigs.some((signature) => "ZkLogin" in signature)) return "unsupported";
  const { sigs, bitmap, multisig_pk } = multisig;
  const key = new sui.MultiSigPublicKey(multisig_pk);
  const signers = bitmap.toString(2).replaceAll("0", "").length;
  if (signers !== sigs.length || bitmap >= 2 ** multisig_pk.pk_map.length) return "invalid";
  const keys = multisig_pk.pk_map.filter((_, at) => (bitmap >> at) & 1);
  if (sigs.some((signature, at) => kindOf(signature) !== kindOf(keys[at]?.pubKey ?? {}))) return "invalid";
  const isWeak = multisig_pk.pk_map.some(
    ({ pubKey }) => "ED25519" in pubKey && sui.Point.fromBytes(Uint8Array.from(pubKey.ED25519), true).isSmallOrder(),
  );
  return isWeak ? "invalid" : { key, until: null };
}

/** The scheme that a key or signature of the library's says it is of. */
function kindOf(one: object): string | undefined {
  return Object.keys(one).find((name) => name !== "$kind");
}

async function askNode(
  node: RecentNode,
  { signed, until, signal }: { readonly signed: SignedMessage; readonly until: bigint; readonly signal: AbortSignal },
): Promise<SignatureVerdict> {
  const question = {
    bytes: base64(signed.message),
    signature: base64(signed.signature),
    intentScope: "PersonalMessage",
    address: signed.chainAddress,
    signal,
  } as const;
  const [{ epoch }, { success }] = await Promise.all([
    readRecent(node, signal),
    node.client.core.verifyZkLoginSignature(question).catch(refusedOutright),
  ]);
  if (epoch === null) throw new ChainUnavailableError("The chain's node does not say which epoch it is in");
  if (epoch > until) return "expired";
  return success ? "valid" : "invalid";
}

/** Nodes answer with this gRPC status what they cannot read as a signature. */
function refusedOutright(error: unknown): { readonly success: false } {
  if (error instanceof Error && "code" in error && error.code === "INVALID_ARGUMENT") return { success: false };
  throw error;
}

/** Also where the transport does not look at the signal. */
async function withinTime<Result>(timeout: number, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const signal = AbortSignal.timeout(timeout);
  const ended = Promise.withResolvers<never>();
  const end = (): void => ended.reject(new Error("The node took too long", { cause: signal.reason }));
  signal.addEventListener("abort", end);
  try {
    return await Promise.race([work(signal), ended.promise]);
  } catch (error) {
    if (error instanceof ChainUnavailableError) throw error;
    throw new ChainUnavailableError("The chain's node did not check the signature", { cause: error });
  } finally {
    signal.removeEventListener("abort", end);
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

type Sui = Awaited<ReturnType<typeof importSui>>;

/** Loaded by the first signature that needs it. */
let loaded: Promise<Sui> | null = null;

function load(): Promise<Sui> {
  return (loaded ??= importSui());
}

async function importSui() {
  const [{ parseSerializedSignature }, { publicKeyFromRawBytes }, { MultiSigPublicKey }, { Point }] = await Promise.all(
    [
      import("@mysten/sui/cryptography"),
      import("@mysten/sui/verify"),
      import("@mysten/sui/multisig"),
      import("@noble/ed25519"),
    ],
  );
  return { parseSerializedSignature, publicKeyFromRawBytes, MultiSigPublicKey, Point };
}
