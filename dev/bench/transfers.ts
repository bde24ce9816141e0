/** Large files: by curl against nginx and rclone's server, by `coffer` against rclone, and file to file against age. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { generateX25519Identity } from "age-encryption";
import { curl, findProgram, missingTools, openScratch, secondsOf, startProgram, writeSample } from "./machine.ts";
import { inTurns, rates, type Benchmark, type Comparison, type Outcome, type Skipped, type Way } from "./ratio.ts";
import { startRclone } from "./rclone.ts";
import { startService, startSharedService } from "./service.ts";

const ROUNDS = 7;
/** Of downloads by curl, which take a fraction of a second. */
const DOWNLOAD_ROUNDS = 20;
const MEBIBYTES = 256;
const UNIT = "MiB/s";

export const transfers: Benchmark = async () => {
  const parts = [await byCurl(), await byPrograms(), await fileToFile("age"), await fileToFile("age-encryption")];
  return {
    comparisons: parts.flatMap(({ comparisons }) => comparisons),
    skipped: parts.flatMap(({ skipped = [] }) => skipped),
  };
};

/** One connection for each transfer, so that the servers alone differ. */
async function byCurl(): Promise<Outcome> {
  const titles = { down: "download over nginx", up: "upload over rclone serve webdav" };
  const missing = { down: missingTools("nginx", "curl"), up: missingTools("rclone", "curl") };
  await using scratch = await openScratch();
  await using peers = new AsyncDisposableStack();
  const sample = join(scratch.directory, "sample");
  writeSample(sample, MEBIBYTES);
  await using service = await startService(scratch.directory);
  const key = ["-H", `authorization: Bearer ${service.apiKey}`];
  // No `Expect: 100-continue`, and no read-ahead into memory: the file streams.
  const body = ["-H", "Expect:", "-H", "content-type: application/octet-stream", "--upload-file", sample];
  const store = (name: string): Promise<number> =>
    curl("upload", 201, ["--request", "POST", ...key, ...body, `${service.baseUrl}/api/files?name=${name}`]);
  const comparisons: Comparison[] = [];
  const skipped: Skipped[] = [];
  if (missing.down === null) {
    const nginx = peers.use(await startNginx(scratch.directory, sample));
    await store("download");
    const listed = await fetch(`${service.baseUrl}/api/files?name=download`, {
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
    const { files } = (await listed.json()) as { files: { id: string }[] };
    const url = `${service.baseUrl}/api/files/${files[0]?.id ?? ""}/content`;
    const series = await inTurns(DOWNLOAD_ROUNDS, {
      ours: () => curl("download", 200, [...key, url]),
      peer: () => curl("download", 200, [`${nginx.baseUrl}/sample`]),
    });
    comparisons.push({ title: titles.down, better: "higher", unit: UNIT, ...series });
  } else skipped.push({ title: titles.down, reason: missing.down });
  if (missing.up === null) {
    const rclone = peers.use(await startRclone(join(scratch.directory, "webdav")));
    // Both keep what they store until the end: whoever deletes at once writes into memory that is still warm.
    const series = await inTurns(ROUNDS, {
      ours: (round) => store(`upload-${String(round)}`),
      peer: (round) => curl("upload", 201, [...body, `${rclone.baseUrl}/upload-${String(round)}`]),
    });
    comparisons.push({ title: titles.up, better: "higher", unit: UNIT, ...series });
  } else skipped.push({ title: titles.up, reason: missing.up });
  return { comparisons, skipped };
}

/** With sendfile; one process in the foreground, so that it can be stopped by its id. */
async function startNginx(directory: string, sample: string) {
  const root = join(directory, "nginx");
  mkdirSync(join(root, "files"), { recursive: true });
  copyFileSync(sample, join(root, "files", "sample"));
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${root}/${kind};`,
  );
  const config = (port: number): string => `daemon off; master_process off; pid ${root}/nginx.pid; worker_processes 1;
user root;
events { worker_connections 64; }
http {
  sendfile on; tcp_nopush on; access_log off; default_type application/octet-stream;
  ${temporary.join(" ")}
  server { listen 127.0.0.1:${String(port)}; root ${root}/files; }
}
`;
  return startProgram(findProgram("nginx") ?? "nginx", (port) => {
    writeFileSync(join(root, "nginx.conf"), config(port));
    return ["-p", root, "-c", join(root, "nginx.conf"), "-e", join(root, "error.log")];
  });
}

const LARGE_MEBIBYTES = 512;
const LARGE_ROUNDS = 5;

/** `coffer` and rclone as their users run them, from the start of the program to its end. */
async function byPrograms(): Promise<Outcome> {
  const title = (way: string, of: string): string => `${way} of a large file by ${of}`;
  const missing = missingTools("rclone");
  await using scratch = await openScratch();
  const { directory } = scratch;
  const sample = join(directory, "sample");
  writeSample(sample, LARGE_MEBIBYTES);
  await using stack = await startSharedService(directory);
  await using peers = new AsyncDisposableStack();
  const rclone = missing === null ? peers.use(await startRclone(join(directory, "webdav"))) : null;
  const got = join(directory, "got");
  // Nobody waits for what another one left to be written.
  const settled = async (run: () => Promise<number>): Promise<number> => {
    await secondsOf("sync", []);
    return run();
  };
  const down = async (run: () => Promise<number>): Promise<number> => {
    const seconds = await settled(run);
    if (statSync(got).size !== LARGE_MEBIBYTES * 1024 * 1024) throw new Error("the download was cut off");
    // What is there already would not be moved again.
    rmSync(got);
    return seconds;
  };
  // Each round has a name of its own: the same content under the same name would not be sent again.
  const name = (round: number): string => `large-${String(round)}`;
  const waysOf = (kind: "public" | "shared") => {
    const vault = stack.vaults[kind];
    const opens = kind === "shared";
    return {
      [`${kind}, up`]: (round: number) =>
        settled(() => stack.coffer(["upload", sample, "--name", name(round), "--vault", vault], opens)),
      [`${kind}, down`]: () => down(() => stack.coffer(["download", `${vault}:large`, got], opens)),
    };
  };
  for (const [kind, opens] of [
    ["public", false],
    ["shared", true],
  ] as const)
    await stack.coffer(["upload", sample, "--name", "large", "--vault", stack.vaults[kind]], opens);
  await rclone?.run(["copyto", sample, ":webdav:large"]);
  const ways: Record<string, Way> = { ...waysOf("public"), ...waysOf("shared") };
  if (rclone !== null) {
    ways["rclone, up"] = (round) => settled(() => rclone.run(["copyto", sample, `:webdav:${name(round)}`]));
    ways["rclone, down"] = () => down(() => rclone.run(["copyto", ":webdav:large", got]));
  }
  const seconds = await inTurns(LARGE_ROUNDS, ways);
  const over = (title: string, ours: string, peer: string): Comparison => ({
    title,
    better: "higher",
    unit: UNIT,
    ours: rates(LARGE_MEBIBYTES, seconds[ours] ?? []),
    peer: rates(LARGE_MEBIBYTES, seconds[peer] ?? []),
  });
  const comparisons: Comparison[] = [];
  const skipped: Skipped[] = [];
  for (const way of ["up", "down"] as const) {
    const what = way === "up" ? "upload" : "download";
    const overRclone = title(what, "coffer over rclone copyto");
    if (missing === null) comparisons.push(over(overRclone, `public, ${way}`, `rclone, ${way}`));
    else skipped.push({ title: overRclone, reason: missing });
    comparisons.push(over(title(what, "coffer, shared over public"), `shared, ${way}`, `public, ${way}`));
  }
  return { comparisons, skipped };
}

/** The codec alone: whole processes that encrypt a file into another, and back. */
async function fileToFile(peer: "age" | "age-encryption"): Promise<Outcome> {
  const titles = { encrypt: `a file encrypted over ${peer}`, decrypt: `a file decrypted over ${peer}` };
  const missing = peer === "age" ? missingTools("age") : null;
  if (missing !== null)
    return { comparisons: [], skipped: Object.values(titles).map((title) => ({ title, reason: missing })) };
  await using scratch = await openScratch();
  const { directory } = scratch;
  const sample = join(directory, "sample");
  writeSample(sample, MEBIBYTES);
  const identity = await generateX25519Identity();
  const identityFile = join(directory, "identity");
  writeFileSync(identityFile, `${identity}\n`);
  const node = async (program: string): Promise<(direction: string, from: string, to: string) => Promise<number>> => {
    // As users run it: JavaScript.
    const outfile = join(directory, `${program}.mjs`);
    await build({
      entryPoints: [new URL(`programs/${program}.ts`, import.meta.url).pathname],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      conditions: ["coffer-source"],
      logLevel: "warning",
    });
    return (direction, from, to) => secondsOf(process.execPath, [outfile, direction, from, to, identity]);
  };
  const age = (direction: string, from: string, to: string): Promise<number> =>
    secondsOf("age", [`--${direction}`, "-i", identityFile, "-o", to, from]);
  const ours = await node("encrypt-file");
  const theirs = peer === "age" ? age : await node("age-encrypt-file");
  const file = (name: string): string => join(directory, name);
  const fresh = (path: string): string => {
    // As age needs it: its output does not exist yet.
    rmSync(path, { force: true });
    return path;
  };
  const encrypt = await inTurns(ROUNDS, {
    ours: () => ours("encrypt", sample, fresh(file("ours"))),
    peer: () => theirs("encrypt", sample, fresh(file("peer"))),
  });
  const decrypt = await inTurns(ROUNDS, {
    ours: () => ours("decrypt", file("ours"), fresh(file("back"))),
    peer: () => theirs("decrypt", file("peer"), fresh(file("peer-back"))),
  });
  // A benchmark of a codec that loses bytes would measure nothing.
  if (!readFileSync(file("back")).equals(readFileSync(sample))) throw new Error("other bytes came back");
  const series = { encrypt, decrypt };
  return {
    comparisons: (["encrypt", "decrypt"] as const).map((direction) => ({
      title: titles[direction],
      better: "higher",
      unit: UNIT,
      ours: rates(MEBIBYTES, series[direction].ours),
      peer: rates(MEBIBYTES, series[direction].peer),
    })),
  };
}
