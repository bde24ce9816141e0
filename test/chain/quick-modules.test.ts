/** What the programs have of libraries in a quicker form (decision 0125), beside the libraries as they are. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { __TEST as tower } from "@noble/curves/abstract/tower.js";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { ed25519 } from "@noble/curves/ed25519.js";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { quick, withFewerPowers } from "../../scripts/quick-modules.ts";
import { ed25519 as native } from "../../scripts/native-ed25519.ts";

interface Modules {
  readonly tower: typeof tower;
  readonly bls12_381: typeof bls12_381;
  readonly Ed25519Keypair: { fromSecretKey(seed: Uint8Array): { sign(message: Uint8Array): Promise<Uint8Array> } };
}

const ENTRY = `
export { __TEST as tower } from "@noble/curves/abstract/tower.js";
export { bls12_381 } from "@noble/curves/bls12-381.js";
export { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
`;
const directory = mkdtempSync(join(tmpdir(), "coffer-quick-"));
let changed: Modules;

beforeAll(async () => {
  const [outfile, stdin] = [
    join(directory, "changed.mjs"),
    { contents: ENTRY, resolveDir: join(import.meta.dirname, "../..") },
  ];
  const plugins = [quick(join(import.meta.dirname, "../../scripts"))];
  await build({ stdin, outfile, plugins, bundle: true, format: "esm", platform: "node", logLevel: "silent" });
  changed = (await import(pathToFileURL(outfile).href)) as Modules;
});
afterAll(() => rmSync(directory, { recursive: true }));

const { fields, G1, G2 } = bls12_381;
const SEED = Uint8Array.from({ length: 32 }, (_, index) => index + 1);
const MESSAGE = new TextEncoder().encode("a message");

it("has the Frobenius coefficients and the pairings of the library", () => {
  const { Fp, Fp2, Fp12 } = fields;
  for (const [degree, rows, divisor] of [
    [6, 2, 3],
    [12, 1, 6],
  ] as const)
    expect(changed.tower.calcFrobeniusCoefficients(Fp2, Fp2.NONRESIDUE, Fp.ORDER, degree, rows, divisor)).toEqual(
      tower.calcFrobeniusCoefficients(Fp2, Fp2.NONRESIDUE, Fp.ORDER, degree, rows, divisor),
    );
  const pairingOf = ({ G1, G2, pairing, fields }: typeof bls12_381) =>
    fields.Fp12.toBytes(pairing(G1.Point.BASE.multiply(5n), G2.Point.BASE.multiply(7n)));
  expect(pairingOf(changed.bls12_381)).toEqual(
    Fp12.toBytes(bls12_381.pairing(G1.Point.BASE.multiply(35n), G2.Point.BASE)),
  );
  expect(pairingOf(changed.bls12_381)).toEqual(pairingOf(bls12_381));
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
  expect(() => withFewerPowers("another text")).toThrow("another tower.js");
});
