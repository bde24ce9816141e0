// Measures the SDK in a browser bundle, minified and gzipped. One size is its core: the root entry with everything
// that it imports at once, without chunks that are loaded on demand. The other is what receivers of webhooks need.
// Prints the bytes; exits 1 above a limit.
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const ROOT = path.dirname(import.meta.dirname);
const LIMIT = 40 * 1024;
const RECEIVER_LIMIT = 4 * 1024;

const { metafile, outputFiles } = await bundle("packages/sdk/src/index.ts");

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
const receiver = (await bundle("packages/sdk/src/webhooks/index.ts")).outputFiles;
const receiverBytes = receiver.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).byteLength, 0);
console.log(`@coffer/sdk/webhooks: ${receiverBytes} bytes gzipped of ${RECEIVER_LIMIT}`);
process.exitCode = bytes <= LIMIT && inputs >= 10 && receiverBytes <= RECEIVER_LIMIT ? 0 : 1;

async function bundle(entry: string) {
  return build({
    stdin: { contents: `export * from ${JSON.stringify(path.join(ROOT, entry))};`, resolveDir: ROOT },
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
}

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
