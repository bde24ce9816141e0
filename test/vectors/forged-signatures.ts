/** Signatures that some library accepts and file-format §6 refuses. */
import { createHash } from "node:crypto";
import { ed25519StatementSigner } from "@coffer/crypto";
import { base64, bytesOf } from "./statement-fixture.ts";

const PRIME = 2n ** 255n - 19n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const SIGN = 1n << 255n;

/** y of a point of order 8 (Chalkias, Garillot, Nikolaenko, "Taming the many EdDSAs", table 1). */
const ORDER_8 = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;

/** Every encoding that decodes to a point of small order, canonical or not. */
const SMALL_ORDER: readonly (readonly [string, bigint])[] = [
  ["of order 1", 1n],
  ["of order 2", PRIME - 1n],
  ["of order 4", 0n],
  ["of order 4, negative", SIGN],
  ["of order 8", ORDER_8],
  ["of order 8, negative", ORDER_8 | SIGN],
  ["of order 8, the other", PRIME - ORDER_8],
  ["of order 8, the other, negative", (PRIME - ORDER_8) | SIGN],
  ["of order 1, y not reduced", PRIME + 1n],
  ["of order 4, y not reduced", PRIME],
  ["of order 1, sign of a zero x", 1n | SIGN],
];

export async function forgedSignatures(seed: Uint8Array): Promise<readonly ForgedSignature[]> {
  const signer = ed25519StatementSigner(seed);
  const message = bytesOf("a digest", 32);
  const signature = await signer.sign(message);
  const [r, s] = [signature.subarray(0, 32), readLittleEndian(signature.subarray(32))];
  const honest = { publicKey: base64(signer.publicKey), message: base64(message) };
  return [
    ...SMALL_ORDER.flatMap(([name, y]) => forgedUnder(name, littleEndian(y))),
    { name: "S + L", ...honest, signature: join(r, littleEndian(s + ORDER)) },
    { name: "S = L", ...honest, signature: join(r, littleEndian(ORDER)) },
    { name: "an R of small order", ...honest, signature: join(littleEndian(1n), withIdentity(seed, message)) },
    { name: "zeros", ...honest, signature: base64(new Uint8Array(64)) },
    { name: "another message", ...honest, message: base64(bytesOf("another digest", 32)), signature: base64(signature) },
    { name: "63 bytes", ...honest, signature: base64(signature.subarray(0, 63)) },
    { name: "65 bytes", ...honest, signature: join(signature, Uint8Array.of(0)) },
    { name: "a key that is no point", ...honest, publicKey: base64(littleEndian(2n)), signature: base64(signature) },
  ];
}

/** R the identity and S zero: fits every message whose hash is a multiple of the key's order, so at once under order 1. */
function forgedUnder(name: string, publicKey: Uint8Array): ForgedSignature[] {
  const signature = join(littleEndian(1n), littleEndian(0n));
  return ["one", "two"].map((which) => ({
    name: `a key ${name}, message ${which}`,
    publicKey: base64(publicKey),
    message: base64(bytesOf(`message ${which}`, 32)),
    signature,
  }));
}

/** The S that fits the identity as R under an honest key: S = k·a. */
function withIdentity(seed: Uint8Array, message: Uint8Array): Uint8Array {
  const half = createHash("sha512").update(seed).digest().subarray(0, 32);
  half[0] = (half[0] ?? 0) & 248;
  half[31] = ((half[31] ?? 0) & 127) | 64;
  const key = ed25519StatementSigner(seed).publicKey;
  const k = readLittleEndian(createHash("sha512").update(littleEndian(1n)).update(key).update(message).digest());
  return littleEndian((k * readLittleEndian(half)) % ORDER);
}

function join(...parts: readonly Uint8Array[]): string {
  return base64(Buffer.concat(parts));
}

function readLittleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

function littleEndian(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn));
}

/** All of them MUST be refused. */
export interface ForgedSignature {
  readonly name: string;
  readonly publicKey: string;
  readonly message: string;
  readonly signature: string;
}
