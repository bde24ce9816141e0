// `npm run release:server [-- --to DIRECTORY]`: the server, what it needs and its Node as one archive. It is the same, byte for byte, from the
// same commit. Prints the archive's path, by default in server/dist/.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { build } from "tsup";
import { serverProgram } from "./server-program.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const START = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/node" "$here/../lib/coffer-server.mjs" "$@"
`;

const { values } = parseArgs({ options: { to: { type: "string", default: path.join(ROOT, "server", "dist") } } });
const [commit = "", time = ""] = run("git", ["log", "-1", "--format=%h %ct"]).trim().split(" ");
const { version } = readJson(path.join(ROOT, "server", "package.json")) as { version: string };
const name = `coffer-server-${version}-${commit}-${process.platform}-${process.arch}`;
const scratch = mkdtempSync(path.join(tmpdir(), "coffer-release-"));
try {
  const tree = path.join(scratch, name);
  await writeProgram(path.join(tree, "lib"));
  writeNode(path.join(tree, "bin"), path.join(tree, "licenses"));
  cpSync(path.join(ROOT, "LICENSE"), path.join(tree, "LICENSE"));
  cpSync(path.join(ROOT, "deploy"), path.join(tree, "deploy"), { recursive: true });
  mkdirSync(values.to, { recursive: true });
  // The image takes the archive that is there, so there is one.
  for (const old of globSync("coffer-server-*.tar.gz", { cwd: values.to })) rmSync(path.join(values.to, old));
  const archive = path.join(values.to, `${name}.tar.gz`);
  pack(archive);
  const sum = createHash("sha256").update(readFileSync(archive)).digest("hex");
  writeFileSync(path.join(values.to, "SHA256SUMS"), `${sum}  ${path.basename(archive)}\n`);
  console.log(archive);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** One file with all dependencies, and what it reads beside itself. */
async function writeProgram(lib: string): Promise<void> {
  const define = { COFFER_BUILD: JSON.stringify(commit) };
  await build({ ...serverProgram(ROOT, lib), config: false, silent: true, metafile: true, define });
  cpSync(path.join(ROOT, "dev/scripts/server-entry.mjs"), path.join(lib, "coffer-server.mjs"));
  const contract = path.join(lib, "node_modules/@coffer/contract");
  mkdirSync(contract, { recursive: true });
  for (const file of ["package.json", "openapi.json"])
    cpSync(path.join(ROOT, "packages/contract", file), path.join(contract, file));
  const metafile = path.join(lib, "metafile-esm.json");
  writeLicenses(readJson(metafile) as { inputs: object }, path.join(lib, "..", "licenses"));
  rmSync(metafile);
}

/** Of each package that the program holds a part of. */
function writeLicenses({ inputs }: { readonly inputs: object }, licenses: string): void {
  mkdirSync(licenses, { recursive: true });
  const packages = new Set(
    Object.keys(inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  );
  for (const directory of packages) {
    const { name, version } = readJson(path.join(ROOT, directory, "package.json")) as Record<
      "name" | "version",
      string
    >;
    const [text] = globSync("{LICEN[CS]E,licen[cs]e,COPYING}*", { cwd: path.join(ROOT, directory) }).sort();
    const said = `The package names its licence in package.json: ${JSON.stringify(readJson(path.join(ROOT, directory, "package.json")), ["license"])}\n`;
    const content = text === undefined ? said : readFileSync(path.join(ROOT, directory, text));
    writeFileSync(path.join(licenses, `${name.replace("/", "+")}-${version}.txt`), content);
  }
}

/** The Node on which the tests run. */
function writeNode(bin: string, licenses: string): void {
  mkdirSync(bin, { recursive: true });
  cpSync(process.execPath, path.join(bin, "node"), { dereference: true });
  cpSync(nodeLicense(), path.join(licenses, "node.txt"));
  writeFileSync(path.join(bin, "coffer-server"), START);
}

/** Beside the program in Node's own distributions; npm puts that of its package `node` one package deeper. */
function nodeLicense(): string {
  const prefix = path.join(path.dirname(process.execPath), "..");
  const [found] = globSync(["LICENSE", "node_modules/node-*/LICENSE"], { cwd: prefix });
  if (found === undefined) throw new Error(`There is no licence of Node below ${prefix}: it has to be in the archive`);
  return path.join(prefix, found);
}

/** Sorted, owned by root, of the time of the commit: nothing of the machine is in it. */
function pack(archive: string): void {
  const programs = ["node", "coffer-server"].map((program) => path.join(scratch, name, "bin", program));
  run("chmod", ["-R", "u=rwX,go=rX", path.join(scratch, name)]);
  run("chmod", ["0755", ...programs]);
  const tar = path.join(scratch, "release.tar");
  const same = ["--sort=name", `--mtime=@${time}`, "--owner=0", "--group=0", "--numeric-owner", "--format=ustar"];
  run("tar", [...same, "--directory", scratch, "--create", "--file", tar, name]);
  run("sh", ["-c", 'gzip --no-name < "$1" > "$2"', "sh", tar, archive]);
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}

function run(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { cwd: ROOT, encoding: "utf8" });
}
