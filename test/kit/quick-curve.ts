/**
 * Replaces the BLS12-381 arithmetic of `@mysten/seal` with mcl's WebAssembly, in the processes of tests and in the sources that they
 * start: most tests of shared vaults spend half of their time in pairings otherwise. Built programs keep Seal's own, and so do the
 * tests of Seal itself (`SEAL` in `vitest.config.ts`) with what they start.
 */
import { registerHooks } from "node:module";

/** Any value: this process, and what it starts, computes with Seal's own arithmetic. */
export const OWN_CURVE_VARIABLE = "COFFER_TEST_SEAL_CURVE";

const SEAL_CURVE = /\/node_modules\/@mysten\/seal\/dist\/bls12381\.mjs$/;
const MCL_CURVE = new URL("mcl-curve.ts", import.meta.url).href;

export function useQuickCurve(): void {
  if (process.env[OWN_CURVE_VARIABLE] !== undefined) return;
  registerHooks({
    load: (url, context, nextLoad) =>
      SEAL_CURVE.test(url)
        ? { format: "module", shortCircuit: true, source: `export * from ${JSON.stringify(MCL_CURVE)};` }
        : nextLoad(url, context),
  });
}
