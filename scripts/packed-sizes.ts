// What a program gets that installs the packed SDK: the tarballs in an empty folder, without the chain. Bundled by esbuild for browsers with
// and without splitting, and run by Node without `@mysten/*`. Run `npm run build` first. Prints the bytes, minified and gzipped.
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { checkBundles } from "./bundled-sizes.ts";

const ROOT = path.dirname(import.meta.dirname);
const PACKAGES = ["contract", "crypto", "sdk"];
const execute = promisify(execFile);

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
  if (!(await checkBundles(folder, [path.join(ROOT, "node_modules")]))) process.exitCode = 1;
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
  const isGood = missing.includes("need the package @coffer/chain") && unasked.includes("@coffer/sdk/shared");
  console.log(`${isGood ? "ok    " : "FAILED"} without the chain: ${missing}`);
  if (!isGood) throw new Error(`A client without the chain says: ${stdout}`);
}
