/**
 * What libraries compute more quickly in the programs (decision 0125): a command opens a shared vault anew, and pays for all that they
 * prepare. The answers are the same. Users of the SDK get the libraries as they are.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "esbuild";

/**
 * Powers of 4,000 bits, of which the first pairing of a process needs 30. (pʲ⁺¹ − 1)·a/d is p·((pʲ − 1)·a/d) + (p − 1)·a/d, and the
 * Frobenius map raises to p.
 */
const POWERS = {
  before: "powers.push(F.pow(nonResidue, power));",
  after: "powers.push(j < 2 ? F.pow(nonResidue, power) : F.mul(F.frobeniusMap(powers[j - 1], 1), powers[1]));",
};

/** The esbuild plugin that puts them in; `scripts` is this directory. */
export const quick = (scripts: string): Plugin => ({
  name: "quick",
  setup: (build) => {
    build.onLoad({ filter: /[\\/]@noble[\\/]curves[\\/]abstract[\\/]tower\.js$/ }, ({ path: file }) => ({
      contents: withFewerPowers(readFileSync(file, "utf8")),
    }));
    build.onResolve({ filter: /^@noble\/curves\/ed25519\.js$/ }, ({ importer }) =>
      /[\\/]@mysten[\\/]sui[\\/]/.test(importer) ? { path: path.join(scripts, "native-ed25519.ts") } : null,
    );
  },
});

/** @throws when the text is not there once: the library has changed. */
export function withFewerPowers(code: string): string {
  const parts = code.split(POWERS.before);
  if (parts.length !== 2) throw new Error("@noble/curves has another tower.js: look at scripts/quick-modules.ts");
  return parts.join(POWERS.after);
}
