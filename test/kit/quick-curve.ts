/**
 * Replaces the BLS12-381 arithmetic of `@mysten/seal` with the WebAssembly that the programs ship with, in the processes of tests and in
 * what they start. Most tests of shared vaults spend half of their time in pairings otherwise. Tests of Seal itself, which `SEAL` of
 * `vitest.config.ts` lists, run the library as it is, and so does what they start.
 */
import { createRequire, registerHooks } from "node:module";

/** Any value: this process, and what it starts, computes with Seal's own arithmetic. */
export const OWN_CURVE_VARIABLE = "COFFER_TEST_SEAL_CURVE";

const SEAL_CURVE = /\/node_modules\/@mysten\/seal\/dist\/bls12381\.mjs$/;

export function useQuickCurve(): void {
  registerHooks({
    load(url, context, nextLoad) {
      if (!SEAL_CURVE.test(url) || process.env[OWN_CURVE_VARIABLE] !== undefined) return nextLoad(url, context);
      return { format: "module", shortCircuit: true, source: sourceOf() };
    },
  });
}

function sourceOf(): string {
  const scripts = new URL("../../scripts/", import.meta.url);
  const mcl = createRequire(import.meta.url).resolve("mcl-wasm/dist/mcl_c.js");
  return `
    import { readFileSync } from "node:fs";
    import { mclCode } from ${JSON.stringify(new URL("quick-modules.ts", scripts).href)};
    import { bls12381Of } from ${JSON.stringify(new URL("wasm-bls12381.ts", scripts).href)};
    export const { G1Element, G2Element, Scalar } = bls12381Of(mclCode(readFileSync(${JSON.stringify(mcl)}, "utf8")));
  `;
}
