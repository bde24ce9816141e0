// What a page loads of the packed SDK where it is installed, minified and gzipped, and the most that each part may have.
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";

const KIB = 1024;

const LISTING = `
  import { createClient } from "@coffer/sdk";
  const client = createClient({ baseUrl: "https://coffer.example", credentials: { apiKey: location.hash } });
  for await (const file of client.files.list()) console.log(file.name);
`;

interface Installed {
  /** With `node_modules/@coffer/sdk` in it. */
  readonly folder: string;
  /** Where its dependencies are, if they are not there. */
  readonly nodePaths: readonly string[];
}

/** Prints a line for each part. Resolves with false if one is too large. @throws Error for a bundle that holds the chain, or not the whole SDK. */
export async function checkBundles(folder: string, nodePaths: readonly string[] = []): Promise<boolean> {
  const installed = { folder, nodePaths };
  const core = await bundle(installed, 'export * from "@coffer/sdk";', true);
  const page = await bundle(installed, LISTING, false);
  const parts = [
    { name: "core, split", bytes: core.atOnce, limit: 40 * KIB },
    { name: "core with ky, split", bytes: core.atOnce + core.ky, limit: 47 * KIB },
    { name: "a page that lists public files, not split", bytes: page.atOnce, limit: 75 * KIB },
  ];
  for (const { name, bytes, limit } of parts)
    console.log(`${bytes <= limit ? "ok    " : "FAILED"} ${name}: ${bytes} bytes gzipped of ${limit}`);
  const chain = [...core.inputs, ...page.inputs].filter((file) => /@mysten|@coffer\/chain/.test(file));
  if (chain.length > 0) throw new Error(`the chain is in a bundle that does not use it: ${chain.join(", ")}`);
  if (core.ky === 0) throw new Error("ky is in no part of its own: this is not the whole SDK");
  return parts.every(({ bytes, limit }) => bytes <= limit);
}

async function bundle(installed: Installed, contents: string, splitting: boolean) {
  const { folder, nodePaths } = installed;
  const { metafile, outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    ...{ bundle: true, minify: true, format: "esm", platform: "browser", target: "es2024" },
    ...{ splitting, metafile: true, write: false, outdir: path.join(folder, "out"), absWorkingDir: folder },
    nodePaths: [...nodePaths],
    logLevel: "error",
  });
  const sizes = new Map(outputFiles.map((file) => [file.path, gzipSync(file.contents, { level: 9 }).byteLength]));
  const sizeOf = (file: string) => sizes.get(path.join(folder, file)) ?? 0;
  const sum = (files: readonly string[]) => files.reduce((total, file) => total + sizeOf(file), 0);
  const inputs = Object.keys(metafile.inputs);
  const atOnce = loadedWith(metafile, "<stdin>");
  const ky = Object.keys(metafile.outputs).find(
    (file) => metafile.outputs[file]?.entryPoint?.includes("/ky/") === true,
  );
  const withKy = ky === undefined ? [] : loadedFrom(metafile, ky).filter((file) => !atOnce.includes(file));
  return { inputs, atOnce: sum(atOnce), ky: sum(withKy) };
}

function loadedWith(metafile: Metafile, entry: string): string[] {
  const file = Object.keys(metafile.outputs).find((name) => metafile.outputs[name]?.entryPoint === entry);
  if (file === undefined) throw new Error(`the bundle has no ${entry}`);
  return loadedFrom(metafile, file);
}

/** The output and what it imports statically, and so on. */
function loadedFrom({ outputs }: Metafile, entry: string): string[] {
  const seen = new Set<string>();
  const queue = [entry];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const imports = outputs[file]?.imports ?? [];
    queue.push(...imports.filter(({ kind }) => kind === "import-statement").map((each) => each.path));
  }
  return [...seen];
}
