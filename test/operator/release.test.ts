/** The archive of `npm run release:server`, unpacked where an operator puts it: it needs nothing else, and nothing that it does changes it. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { productionSecrets } from "../journeys/kit/production.ts";
import { signUpWithCode } from "../journeys/kit/identity.ts";
import { nodeProgram } from "../shipped/nodes.ts";
import { release, releasedInto } from "./released.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const FULL = process.env["COFFER_TEST_COUNTS"] === "full";

let released: string;
let installation: string;
let program: string;

beforeAll(() => {
  released = releasedInto(makeDirectory());
  installation = path.join(makeDirectory(), "coffer");
  mkdirSync(installation);
  execFileSync("tar", ["-xzf", released, "-C", installation, "--strip-components=1", "--no-same-owner"]);
  program = path.join(installation, "bin/coffer-server");
}, 180_000);

/** With no program on its path, and in no directory of the project. */
function run(...words: string[]) {
  return spawnSync(program, words, { env: { PATH: "/usr/bin:/bin" }, cwd: "/", encoding: "utf8" });
}

const digestOf = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");

function contentOf(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(path.join(directory, name)).isFile(),
  );
  return Object.fromEntries(files.sort().map((name) => [name, digestOf(path.join(directory, name))]));
}

it("is named by version, build and machine, and its sum stands beside it [issue 51]", () => {
  const build = execFileSync("git", ["log", "-1", "--format=%h"], { cwd: ROOT, encoding: "utf8" }).trim();
  expect(path.basename(released)).toBe(`coffer-server-0.1.0-${build}-${process.platform}-${process.arch}.tar.gz`);
  const sums = readFileSync(path.join(path.dirname(released), "SHA256SUMS"), "utf8");
  expect(sums).toBe(`${digestOf(released)}  ${path.basename(released)}\n`);
  expect(run("--version").stdout).toBe(`coffer-server 0.1.0 (build ${build}, Node ${process.version})\n`);
});

it("belongs to root, and holds the licences of Node and of each dependency [issue 51]", () => {
  const owners = execFileSync("tar", ["-tvzf", released, "--numeric-owner"], { encoding: "utf8" });
  expect(
    owners
      .trim()
      .split("\n")
      .every((line) => /^[-d]rw[x-]r-[x-]r-[x-] 0\/0 /.test(line)),
  ).toBe(true);
  const { dependencies } = JSON.parse(readFileSync(path.join(ROOT, "server/package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const licences = readdirSync(path.join(installation, "licenses"));
  const expected = Object.entries(dependencies).filter(([name]) => !name.startsWith("@coffer/"));
  expect(licences).toEqual(
    expect.arrayContaining([
      "node.txt",
      ...expected.map(([name, version]) => `${name.replace("/", "+")}-${version}.txt`),
    ]),
  );
  for (const licence of licences)
    expect(statSync(path.join(installation, "licenses", licence)).size).toBeGreaterThan(0);
});

it("is the same, byte for byte, from the same commit [issue 51]", (context) => {
  if (!FULL) context.skip("makes it a second time: runs in the full counts (npm run test:nightly)");
  expect(digestOf(release(makeDirectory()))).toBe(digestOf(released));
}, 180_000);

it("serves, lets somebody in by a code, and does not change itself [issue 51]", async () => {
  const before = contentOf(installation);
  const data = makeDirectory();
  const file = path.join(makeDirectory(), "server.env");
  const settings = { ...productionSecrets(), SERVICE_DATA_DIR: data, SERVICE_PORT: "0", SERVICE_LOG_LEVEL: "error" };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, lines.join(""), { mode: 0o600 });
  const early = run("--env-file", file, "access-codes", "create");
  expect([early.status, early.stdout, early.stderr]).toEqual([1, "", expect.stringContaining(data)]);
  const server = spawn(program, ["--env-file", file], { env: { PATH: "/usr/bin:/bin" }, cwd: "/" });
  let said = "";
  for await (const piece of server.stderr) {
    said += String(piece);
    if (said.includes("listens on")) break;
  }
  const [baseUrl = ""] = /http:\/\/\S+/.exec(said) ?? [];
  const code = run("--env-file", file, "access-codes", "create");
  expect([code.status, code.stderr]).toEqual([0, expect.stringContaining("Good for 1 use")]);
  await signUpWithCode(baseUrl, code.stdout.trim());
  const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as { openapi: string };
  expect(document.openapi).toBe("3.1.0");
  server.kill("SIGTERM");
  expect(await once(server, "exit")).toEqual([0, null]);
  expect(run("--env-file", file, "audit", "verify").status).toBe(0);
  expect(contentOf(installation)).toEqual(before);
});

it("says in a sentence that a Node is too old, with the status after which systemd does not try again [issue 51]", () => {
  const node = nodeProgram("too-old");
  const { status, stderr } = spawnSync(node, [path.join(installation, "lib/coffer-server.mjs")], { encoding: "utf8" });
  expect([status, stderr]).toEqual([
    78,
    expect.stringMatching(/^coffer-server needs Node 24\.7 or newer, and this is Node .*\n$/),
  ]);
});
