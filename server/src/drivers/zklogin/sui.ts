/** zkLogin as Sui defines it, through `@mysten/sui`. */
import type { EphemeralKey, Zklogin, ZkloginClaims } from "../../ports/zklogin.ts";

/** Length of a public key after its flag byte (Sui signature schemes): Ed25519, secp256k1, secp256r1. */
const KEY_BYTES: Readonly<Record<number, number>> = { 0: 32, 1: 33, 2: 33 };
/** Everything that is hashed is an element of this field (BN254). */
const FIELD = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
const SALT_LIMIT = 1n << 128n;
/** An address holds the issuer's length in one byte. */
const MAX_ISSUER_BYTES = 255;

export const suiZklogin: Zklogin = {
  async nonceOf(key) {
    const randomness = parseDecimal(key.randomness, FIELD, "randomness");
    const bytes = parsePublicKey(key);
    if (!Number.isSafeInteger(key.maxEpoch) || key.maxEpoch < 0) throw new RangeError("maxEpoch is not an epoch");
    const { generateNonce, publicKeyFromSuiBytes } = await load();
    return generateNonce(publicKeyFromSuiBytes(bytes), key.maxEpoch, randomness);
  },

  async addressOf(claims) {
    const { computeZkLoginAddress } = await load();
    return inRange(claims, (salt) =>
      computeZkLoginAddress({
        claimName: "sub",
        claimValue: claims.subject,
        iss: claims.issuer,
        aud: claims.audience,
        userSalt: salt,
        legacyAddress: false,
      }),
    );
  },

  async addressSeedOf(claims) {
    const { genAddressSeed } = await load();
    return inRange(claims, (salt) => String(genAddressSeed(salt, "sub", claims.subject, claims.audience)));
  },
};

/** Loaded by the first who needs it: a sixth of a second and 28 MB, measured, that a server without zkLogin never spends. */
let loaded: Promise<Sui> | null = null;

type Sui = Awaited<ReturnType<typeof importSui>>;

function load(): Promise<Sui> {
  return (loaded ??= importSui());
}

async function importSui() {
  const [zklogin, { publicKeyFromSuiBytes }] = await Promise.all([
    import("@mysten/sui/zklogin"),
    import("@mysten/sui/verify"),
  ]);
  return { ...zklogin, publicKeyFromSuiBytes };
}

function parsePublicKey({ publicKey }: EphemeralKey): Uint8Array {
  const bytes = Buffer.from(publicKey, "base64");
  if (bytes.toString("base64") !== publicKey) throw new RangeError("the ephemeral key is not in base64");
  if (KEY_BYTES[bytes[0] ?? -1] !== bytes.length - 1) {
    throw new RangeError("the ephemeral key is not a flag byte and a public key");
  }
  return new Uint8Array(bytes);
}

function parseDecimal(text: string, limit: bigint, what: string): bigint {
  if (!/^\d{1,78}$/.test(text)) throw new RangeError(`${what} is not a decimal number`);
  const value = BigInt(text);
  if (value >= limit) throw new RangeError(`${what} is too large`);
  return value;
}

/** The library names the values that it cannot take in its errors: they stop here. */
function inRange<Made>({ salt, issuer }: ZkloginClaims, make: (salt: bigint) => Made): Made {
  const parsed = parseDecimal(salt, SALT_LIMIT, "salt");
  if (Buffer.byteLength(issuer) > MAX_ISSUER_BYTES) throw new RangeError("the issuer is too long for zkLogin");
  try {
    return make(parsed);
  } catch {
    throw new RangeError("the token's claims are too long for zkLogin, or hold characters that JSON escapes");
  }
}
