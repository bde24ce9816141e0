/** What the programs have of libraries in a quicker form (decisions 0125 and 0133), beside the libraries as they are. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { ed25519 } from "@noble/curves/ed25519.js";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { mclCode, quick } from "../../scripts/quick-modules.ts";
import { ed25519 as native } from "../../scripts/native-ed25519.ts";
import { bls12381Of } from "../../scripts/wasm-bls12381.ts";

/** Seal's own module has the same names. */
type Curve = ReturnType<typeof bls12381Of>;

interface Changed extends Curve {
  readonly Ed25519Keypair: { fromSecretKey(seed: Uint8Array): { sign(message: Uint8Array): Promise<Uint8Array> } };
}

const SEAL_CURVE = join(dirname(createRequire(import.meta.url).resolve("@mysten/seal")), "bls12381.mjs");
const ENTRY = `
export { G1Element, G2Element, Scalar } from ${JSON.stringify(SEAL_CURVE)};
export { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
`;
const directory = mkdtempSync(join(tmpdir(), "coffer-quick-"));
let changed: Changed;
let seal: Curve;

beforeAll(async () => {
  const [outfile, stdin] = [
    join(directory, "changed.mjs"),
    { contents: ENTRY, resolveDir: join(import.meta.dirname, "../..") },
  ];
  const plugins = [quick(join(import.meta.dirname, "../../scripts"))];
  await build({
    stdin,
    outfile,
    plugins,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22",
    logLevel: "silent",
  });
  changed = (await import(pathToFileURL(outfile).href)) as Changed;
  seal = (await import(pathToFileURL(SEAL_CURVE).href)) as Curve;
});
afterAll(() => rmSync(directory, { recursive: true }));

const SEED = Uint8Array.from({ length: 32 }, (_, index) => index + 1);
const MESSAGE = new TextEncoder().encode("a message");
const ORDER = bls12_381.fields.Fr.ORDER;
const FIELD = bls12_381.fields.Fp.ORDER;

/** What both answer, as text; what they throw counts as their answer. */
function answersOf(ask: (curve: Curve) => Uint8Array | boolean): string[] {
  return [seal, changed].map((curve) => {
    try {
      const answer = ask(curve);
      return typeof answer === "boolean" ? String(answer) : Buffer.from(answer).toString("hex");
    } catch (error) {
      return error instanceof Error ? error.message : "?";
    }
  });
}

function expectSame(ask: (curve: Curve) => Uint8Array | boolean): string {
  const [theirs, ours] = answersOf(ask);
  expect(ours).toBe(theirs);
  return theirs ?? "";
}

const SCALARS = [1n, 2n, 7n, 2n ** 64n - 1n, ORDER - 1n, 0x123456789abcdef0fedcba9876543210n];
const scalars = (): bigint[] => [...SCALARS, ...Array.from({ length: 6 }, randomScalar)];
const randomScalar = (): bigint => BigInt(`0x${randomBytes(31).toString("hex")}`) + 1n;

it("computes with points as Seal's module does", () => {
  for (const group of ["G1Element", "G2Element"] as const) {
    for (const scalar of scalars()) {
      const point = ({ [group]: Element, Scalar }: Curve) => Element.generator().multiply(Scalar.fromBigint(scalar));
      const hashed = ({ [group]: Element }: Curve) => Element.hashToCurve(Buffer.from(String(scalar)));
      expectSame((curve) => point(curve).toBytes());
      expectSame((curve) => hashed(curve).toBytes());
      expectSame((curve) =>
        hashed(curve)
          .multiply(curve.Scalar.fromBigint(ORDER - scalar))
          .toBytes(),
      );
    }
  }
  for (const scalar of scalars()) {
    const [one, other] = [MESSAGE, Buffer.from(String(scalar))].map(
      (data) =>
        ({ G1Element }: Curve) =>
          G1Element.hashToCurve(data),
    ) as [(curve: Curve) => InstanceType<Curve["G1Element"]>, (curve: Curve) => InstanceType<Curve["G1Element"]>];
    for (const [first, second] of [
      [one, other],
      [one, one],
    ] as const) {
      expectSame((curve) => first(curve).add(second(curve)).toBytes());
      expectSame((curve) => first(curve).subtract(second(curve)).toBytes());
    }
    expectSame(({ G2Element, Scalar }) =>
      G2Element.generator().multiply(Scalar.fromBigint(scalar)).equals(G2Element.generator()),
    );
  }
});

it("hashes texts of every length as Seal's module does", () => {
  for (const length of [0, 1, 31, 32, 63, 64, 65, 128, 255, 1000])
    expectSame(({ G1Element }) => G1Element.hashToCurve(Buffer.alloc(length, 7)).toBytes());
  expect(() => changed.G1Element.hashToCurve(new Uint8Array(4096))).toThrow(RangeError);
});

it("pairs points as Seal's module does", () => {
  for (const [one, other] of [
    [1n, 1n],
    [ORDER - 1n, 2n],
    ...Array.from({ length: 6 }, () => [randomScalar(), randomScalar()] as const),
  ] as const)
    expectSame(({ G1Element, G2Element, Scalar }) =>
      G1Element.generator()
        .multiply(Scalar.fromBigint(one))
        .pairing(G2Element.generator().multiply(Scalar.fromBigint(other)))
        .toBytes(),
    );
  const { G1Element, G2Element, Scalar } = changed;
  const [one, other] = [G1Element.generator(), G2Element.generator()];
  const seven = Scalar.fromBigint(7n);
  expect(
    one
      .multiply(seven)
      .pairing(other)
      .equals(one.pairing(other.multiply(seven))),
  ).toBe(true);
  expect(one.multiply(seven).pairing(other).equals(one.pairing(other))).toBe(false);
});

it("takes no point and no scalar that Seal's module refuses", () => {
  const { G1, G2 } = bls12_381;
  const big = Buffer.from(FIELD.toString(16).padStart(96, "0"), "hex");
  big[0] = (big[0] ?? 0) | 0x80;
  const [small, large] = [G1.Point.BASE.toBytes(), G2.Point.BASE.toBytes()];
  const changes = (bytes: Uint8Array): Uint8Array[] =>
    Array.from({ length: 8 }, (_, bit) => bytes.with(0, (bytes[0] ?? 0) ^ (1 << bit))).concat(
      Array.from({ length: 60 }, () => bytes.with(Math.floor(Math.random() * bytes.length), randomBytes(1)[0] ?? 0)),
    );
  const zeros = (length: number): Uint8Array[] =>
    [0xe0, 0x40, 0x60, 0x80, 0xa0, 0].flatMap((first) => [
      new Uint8Array(length).with(0, first),
      new Uint8Array(length).with(0, first).with(length - 1, 1),
    ]);
  const random = (length: number): Uint8Array[] =>
    Array.from({ length: 60 }, () => {
      const bytes = new Uint8Array(randomBytes(length));
      return bytes.with(0, ((bytes[0] ?? 0) & 0x1f) | 0x80);
    });
  const tried = {
    G1Element: [
      ...[...changes(small), ...zeros(48), ...random(48), big],
      ...[new Uint8Array(0), small.slice(1), Buffer.concat([small, Buffer.of(0)]), large],
    ],
    G2Element: [
      ...[...changes(large), ...zeros(96), ...random(96), Buffer.concat([big, new Uint8Array(48)])],
      ...[Buffer.concat([small.with(0, 0x80), big.with(0, 0x1a)]), new Uint8Array(0), large.slice(1), small],
      Buffer.concat([large, Buffer.of(0)]),
    ],
  } as const;
  let outside = 0;
  for (const group of ["G1Element", "G2Element"] as const)
    for (const bytes of tried[group]) {
      expectSame(({ [group]: Element }) => Element.fromBytes(bytes).toBytes());
      try {
        (group === "G1Element" ? G1 : G2).Point.fromBytes(bytes);
      } catch (error) {
        if (error instanceof Error && error.message.includes("subgroup")) outside += 1;
      }
    }
  // On the curve, and of another order.
  expect(outside).toBeGreaterThan(20);
  for (const bytes of [new Uint8Array(32).fill(255), new Uint8Array(31), new Uint8Array(33)])
    for (const read of ["fromBytes", "fromBytesLE"] as const) expectSame(({ Scalar }) => Scalar[read](bytes).toBytes());
  for (const scalar of [-1n, 0n, ORDER, ORDER - 1n]) expectSame(({ Scalar }) => Scalar.fromBigint(scalar).toBytes());
  expectSame(({ Scalar }) => Scalar.fromBytesLE(SEED).toBytes());
  // Seal's module reads these two. No message of Seal has them, and its next step refuses zero.
  for (const bytes of [G1.Point.BASE.toBytes(false), G1.Point.ZERO.toBytes()])
    expect(() => changed.G1Element.fromBytes(bytes)).toThrow("Invalid G1 point");
  expect(() => changed.G2Element.fromBytes(G2.Point.ZERO.toBytes())).toThrow("Invalid G2 point");
});

it("refuses zero where @noble/curves does", () => {
  const zero = ({ G1Element }: Curve) => G1Element.generator().subtract(G1Element.generator());
  expect(expectSame((curve) => zero(curve).toBytes())).toMatch(/ZERO/);
  expect(expectSame((curve) => zero(curve).pairing(curve.G2Element.generator()).toBytes())).toMatch(/ZERO/);
  for (const group of ["G1Element", "G2Element"] as const)
    expect(
      expectSame(({ [group]: Element, Scalar }) => Element.generator().multiply(Scalar.fromBigint(0n)).toBytes()),
    ).toMatch(/scalar/);
});

it("leaves no scalar and no user key in mcl's memory", () => {
  const memories: WebAssembly.Memory[] = [];
  const { Memory } = WebAssembly;
  vi.spyOn(WebAssembly, "Memory").mockImplementation(function (
    this: unknown,
    descriptor: WebAssembly.MemoryDescriptor,
  ) {
    const memory = new Memory(descriptor);
    memories.push(memory);
    return memory;
  });
  const code = readFileSync(createRequire(import.meta.url).resolve("mcl-wasm/dist/mcl_c.js"), "utf8");
  const { G1Element, G2Element, Scalar } = bls12381Of(Uint8Array.from(mclCode(code)));
  const secret = new Uint8Array(randomBytes(32)).with(0, 1);
  const key = G1Element.hashToCurve(secret).multiply(Scalar.fromBytes(secret));
  key.pairing(G2Element.generator());
  const written = key.toBytes();
  vi.restoreAllMocks();
  const [memory] = memories;
  const bytes = Buffer.from(memory?.buffer ?? new ArrayBuffer());
  expect(bytes.length).toBeGreaterThan(1e6);
  // The tables of mcl are there.
  expect(bytes.some((byte) => byte !== 0)).toBe(true);
  for (const gone of [secret, secret.toReversed(), written, key.point.subarray(0, 48), key.point.subarray(48, 96)])
    expect(bytes.indexOf(gone)).toBe(-1);
});

it("draws scalars that differ, below the order", () => {
  const drawn = Array.from({ length: 50 }, () => Buffer.from(changed.Scalar.random().toBytes()).toString("hex"));
  expect(new Set(drawn).size).toBe(50);
  for (const each of drawn) expect(BigInt(`0x${each}`)).toBeLessThan(ORDER);
});

it("signs as @noble/curves does, and accepts what it accepts", async () => {
  expect(native.getPublicKey(SEED)).toEqual(ed25519.getPublicKey(SEED));
  const signature = native.sign(MESSAGE, SEED);
  expect(signature).toEqual(ed25519.sign(MESSAGE, SEED));
  expect(await changed.Ed25519Keypair.fromSecretKey(SEED).sign(MESSAGE)).toEqual(signature);
  const key = ed25519.getPublicKey(SEED);
  expect(native.verify(signature, MESSAGE, key)).toBe(true);
  expect(native.verify(signature, SEED, key)).toBe(false);
  // One of small order, which ZIP 215 takes: R = A = the point of order 2 or 8, S = 0.
  for (const point of [
    "01",
    "ec".padEnd(62, "f") + "7f",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  ]) {
    const small = Buffer.from(point.padEnd(64, "0"), "hex");
    const odd = Buffer.concat([small, new Uint8Array(32)]);
    expect(native.verify(odd, MESSAGE, small), point).toBe(ed25519.verify(odd, MESSAGE, small));
  }
  expect(native.verify(signature, MESSAGE, new Uint8Array(32).fill(0xff))).toBe(false);
  expect(() => native.getPublicKey(new Uint8Array(31))).toThrow();
});

it("refuses a library with another text", () => {
  for (const text of ["another text", "const wasmBase64 = 'AGFzbQ==';".repeat(2)])
    expect(() => mclCode(text)).toThrow("another mcl_c.js");
});
