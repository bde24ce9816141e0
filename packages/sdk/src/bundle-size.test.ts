import { build, type Metafile, type OutputFile } from "esbuild";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

const CORE_LIMIT = 40 * 1024;

/** The root entry as a browser would load it: contract and zod included. */
async function bundle(): Promise<{ files: Map<string, OutputFile>; core: string[]; outputs: Metafile["outputs"] }> {
  const result = await build({
    entryPoints: [join(import.meta.dirname, "index.ts")],
    ...{
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "browser",
      minify: true,
      write: false,
      metafile: true,
    },
    conditions: ["coffer-source"],
    outdir: "out",
  });
  const { outputs } = result.metafile;
  const files = new Map(result.outputFiles.map((file) => [basename(file.path), file]));
  const core = new Set<string>();
  const load = (path: string): void => {
    if (core.has(path)) return;
    core.add(path);
    for (const used of outputs[path]?.imports ?? []) if (used.kind === "import-statement") load(used.path);
  };
  load(
    Object.keys(outputs).find(
      (path) => outputs[path]?.entryPoint?.endsWith("/index.ts") === true && basename(path) === "index.js",
    ) ?? "",
  );
  return { files, core: [...core], outputs };
}

describe("the bundle for browsers", () => {
  it("has a core of at most 40 KiB gzipped, and hashing, signing, renewal, transfers, webhooks, sentences and ky apart from it", async () => {
    const { files, core, outputs } = await bundle();
    const size = core.reduce(
      (sum, path) => sum + gzipSync(files.get(basename(path))?.contents ?? "", { level: 9 }).length,
      0,
    );
    const inputs = core.flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
    expect(inputs.some((path) => path.endsWith("packages/contract/src/files.ts"))).toBe(true);
    const late =
      /@noble|\/ky\/|src\/(upload|download|audit)\/|byte-body|guarded-stream|vaults\/seen|chain\/(proving|ed25519)|renewal|error-texts|audit-chain|summaries|contract\/src\/(api|api-keys|audit|auth|billing|deletion|events|identity-provider|invites|sessions|shared-vaults|trash|uploads|webhooks)\.ts|events\/follow|-calls\.ts/;
    expect(inputs.filter((path) => late.test(path))).toEqual([]);
    expect(size).toBeGreaterThan(10 * 1024);
    expect(size).toBeLessThanOrEqual(CORE_LIMIT);
  });

  it("has all that receivers of webhooks need in 4 KiB gzipped, without a schema or the client", async () => {
    const result = await build({
      entryPoints: [join(import.meta.dirname, "webhooks", "index.ts")],
      ...{ bundle: true, format: "esm", platform: "neutral", minify: true, write: false, metafile: true },
      conditions: ["coffer-source"],
    });
    const [file] = result.outputFiles;
    const [output] = Object.values(result.metafile.outputs);
    const inputs = Object.keys(output?.inputs ?? {}).map((path) => basename(path));
    expect(inputs.toSorted()).toEqual(["event-kinds.ts", "index.ts", "received-event.ts", "verify.ts"]);
    expect(output?.imports).toEqual([]);
    expect(gzipSync(file?.contents ?? "", { level: 9 }).length).toBeLessThanOrEqual(4 * 1024);
  });

  it("imports nothing of Node", async () => {
    const { outputs } = await bundle();
    const imported = Object.values(outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
    expect(imported.filter((path) => path.startsWith("node:"))).toEqual([]);
  });
});
