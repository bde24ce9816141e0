// What a program gets that installs the packed SDK: the tarballs in an empty folder, without the chain. Bundled by esbuild for browsers with
// and without splitting, and run by Node without `@mysten/*`. Run `npm run build` first. Prints the bytes, minified and gzipped.
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";

const ROOT = path.dirname(import.meta.dirname);
const KIB = 1024;
const PACKAGES = ["contract", "crypto", "sdk"];
const execute = promisify(execFile);

const LISTING = `
  import { createClient } from "@coffer/sdk";
  const client = createClient({ baseUrl: "https://coffer.example", credentials: { apiKey: location.hash } });
  for await (const file of client.files.list()) console.log(file.name);
`;

/** Prints what a client says that opens shared vaults without the chain, and then what one says that never asked for them. */
const WITHOUT_CHAIN = `
  import { createClient } from "@coffer/sdk";
  import "@coffer/sdk/node";
  import { sharedVaults } from "@coffer/sdk/shared";
  const network = { grpcUrl: "http://127.0.0.1:1", keyServerSets: [], network: "localnet" };
  const baseUrl = "http://127.0.0.1:1";
  const says = async (client) => console.log(await client.vaults.checkAccess("any").then(() => "nothing", (error) => error.message + " " + error.nextStep));
  await says(createClient({ baseUrl, sharedVaults: sharedVaults({ signer: {}, network }) }));
  await says(createClient({ baseUrl }));
`;

const folder = await mkdtemp(path.join(tmpdir(), "coffer-sizes-"));
try {
  await install();
  const core = await bundle('export * from "@coffer/sdk";', true);
  const page = await bundle(LISTING, false);
  // `limit` is what holds and may only fall; `goal` is what was set out for, where it is not reached yet.
  const parts = [
    { name: "core, split", bytes: core.atOnce, limit: 25 * KIB, goal: 25 * KIB },
    { name: "core with ky, split", bytes: core.atOnce + core.ky, limit: 34 * KIB, goal: 32 * KIB },
    { name: "a page that lists public files, not split", bytes: page.atOnce, limit: 63 * KIB, goal: 60 * KIB },
  ];
  for (const { name, bytes, limit, goal } of parts) {
    console.log(
      `${bytes <= limit ? "ok    " : "FAILED"} ${name}: ${bytes} bytes gzipped of ${limit}${bytes > goal ? `, more than the goal of ${goal}` : ""}`,
    );
    if (bytes > limit) process.exitCode = 1;
  }
  const chain = [...core.inputs, ...page.inputs].filter((file) => /@mysten|@coffer\/chain/.test(file));
  if (chain.length > 0) throw new Error(`the chain is in a bundle that does not use it: ${chain.join(", ")}`);
  if (core.ky === 0) throw new Error("ky is in no part of its own: this is not the whole SDK");
  await refuseWithoutChain();
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Tarballs of this repository; what they depend on is taken from its node_modules, so that nothing is fetched. */
async function install(): Promise<void> {
  for (const name of PACKAGES) {
    const args = [
      "pack",
      path.join(ROOT, "packages", name),
      "--json",
      "--ignore-scripts",
      "--pack-destination",
      folder,
    ];
    await execute("npm", args, { cwd: ROOT });
    const target = path.join(folder, "node_modules", "@coffer", name);
    await mkdir(target, { recursive: true });
    await execute("tar", ["-xzf", path.join(folder, `coffer-${name}-0.1.0.tgz`), "--strip-components=1", "-C", target]);
  }
}

/** With all that the SDK depends on and nothing else. */
async function refuseWithoutChain(): Promise<void> {
  for (const name of ["@noble", "ky", "mime", "zod"])
    await cp(path.join(ROOT, "node_modules", name), path.join(folder, "node_modules", name), { recursive: true });
  const program = path.join(folder, "without-chain.mjs");
  await writeFile(program, WITHOUT_CHAIN);
  const { stdout } = await execute(process.execPath, [program], { cwd: folder, timeout: 20_000 });
  const [missing = "", unasked = ""] = stdout.split("\n");
  const isGood = missing.includes("npm install @coffer/chain") && unasked.includes("@coffer/sdk/shared");
  console.log(`${isGood ? "ok    " : "FAILED"} without the chain: ${missing}`);
  if (!isGood) throw new Error(`A client without the chain says: ${stdout}`);
}

async function bundle(contents: string, splitting: boolean) {
  const { metafile, outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    ...{ bundle: true, minify: true, format: "esm", platform: "browser", target: "es2024" },
    ...{ splitting, metafile: true, write: false, outdir: path.join(folder, "out"), absWorkingDir: folder },
    nodePaths: [path.join(ROOT, "node_modules")],
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
