/**
 * What libraries compute more quickly in the programs (decisions 0125 and 0133). A command opens a shared vault anew, and pays for all that
 * they prepare. The answers are the same. Users of the SDK get the libraries as they are.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { Plugin } from "esbuild";

/** mcl's JavaScript holds its WebAssembly as text. It decodes that character by character, for 60 ms. */
const MCL_CODE = /const wasmBase64 = '([A-Za-z0-9+/=]+)';/g;

/** The esbuild plugin that puts them in; `scripts` is this directory. */
export const quick = (scripts: string): Plugin => ({
  name: "quick",
  setup: (build) => {
    build.onLoad({ filter: /[\\/]@mysten[\\/]seal[\\/]dist[\\/]bls12381\.mjs$/ }, () => ({
      contents: [
        // The licence goes with the code wherever that goes.
        `/*!\n${readFileSync(path.join(scripts, "mcl-license.txt"), "utf8")}*/`,
        'import code from "mcl";',
        `import { bls12381Of } from ${JSON.stringify(path.join(scripts, "wasm-bls12381.ts"))};`,
        "export const { G1Element, G2Element, Scalar } = bls12381Of(code);",
      ].join("\n"),
      resolveDir: scripts,
    }));
    build.onResolve({ filter: /^mcl$/ }, () => ({ path: "mcl", namespace: "mcl" }));
    build.onLoad({ filter: /.*/, namespace: "mcl" }, () => ({
      contents: mclCode(readFileSync(createRequire(import.meta.url).resolve("mcl-wasm/dist/mcl_c.js"), "utf8")),
      loader: "binary",
    }));
    build.onResolve({ filter: /^@noble\/curves\/ed25519\.js$/ }, ({ importer }) =>
      /[\\/]@mysten[\\/]sui[\\/]/.test(importer) ? { path: path.join(scripts, "native-ed25519.ts") } : null,
    );
  },
});

/** @throws when it is not there once: the library has changed. */
export function mclCode(script: string): Uint8Array {
  const [found, another] = script.matchAll(MCL_CODE);
  if (found?.[1] === undefined || another !== undefined)
    throw new Error("mcl-wasm has another mcl_c.js: look at scripts/quick-modules.ts");
  return Buffer.from(found[1], "base64");
}
