// The SDK's core as a browser bundle carries it: the root entry with everything it imports, minified and gzipped.
// Chunks that are loaded on demand are not part of it. Prints the bytes; exits 1 above the limit.
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const ROOT = path.dirname(import.meta.dirname);
const LIMIT = 25 * 1024;
const ENTRY = path.join(ROOT, "packages/sdk/src/index.ts");

const { metafile, outputFiles } = await build({
  stdin: { contents: `export * from ${JSON.stringify(ENTRY)};`, resolveDir: ROOT },
  bundle: true,
  minify: true,
  format: "esm",
  platform: "browser",
  target: "es2024",
  conditions: ["coffer-source"],
  splitting: true,
  metafile: true,
  write: false,
  outdir: path.join(ROOT, "size"),
  absWorkingDir: ROOT,
  logLevel: "error",
});

const chunks = loadedAtOnce();
const bytes = chunks
  .map((file) => gzipSync(contentsOf(file), { level: 9 }).byteLength)
  .reduce((sum, size) => sum + size, 0);
const inputs = Object.keys(metafile.inputs).length;
console.log(
  `SDK core for browsers: ${bytes} bytes gzipped of ${LIMIT} (${chunks.length} files from ${inputs} modules)`,
);
for (const chunk of loadedOnDemand()) {
  console.log(`  on demand: ${chunk.bytes} bytes gzipped, ${chunk.contents}`);
}
if (inputs < 10) console.log("too few modules: this is not the whole SDK");
process.exitCode = bytes <= LIMIT && inputs >= 10 ? 0 : 1;

/** The other chunks, largest first, each named by the package most of it comes from. */
function loadedOnDemand(): { bytes: number; contents: string }[] {
  return Object.entries(metafile.outputs)
    .filter(([file]) => !chunks.includes(file))
    .map(([file, output]) => {
      const [largest] = Object.entries(output.inputs).sort(([, a], [, b]) => b.bytesInOutput - a.bytesInOutput);
      const bytes = gzipSync(contentsOf(file), { level: 9 }).byteLength;
      return { bytes, contents: `mostly ${largest?.[0].replace(/^.*node_modules\//, "") ?? "re-exports"}` };
    })
    .sort((a, b) => b.bytes - a.bytes);
}

/** The entry's output and what it imports statically, and so on. */
function loadedAtOnce(): string[] {
  const entry = Object.entries(metafile.outputs).find(([, output]) => output.entryPoint === "<stdin>");
  if (entry === undefined) throw new Error("the bundle has no entry");
  const seen = new Set<string>();
  const queue = [entry[0]];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const imports = metafile.outputs[file]?.imports ?? [];
    queue.push(...imports.filter(({ kind }) => kind === "import-statement").map((each) => each.path));
  }
  return [...seen];
}

function contentsOf(file: string): Uint8Array {
  const found = outputFiles.find((output) => output.path === path.join(ROOT, file));
  if (found === undefined) throw new Error(`the bundle has no ${file}`);
  return found.contents;
}
