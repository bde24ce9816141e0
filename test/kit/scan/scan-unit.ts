/** The scan of one unit when it is over: all that went over the wire, was logged or stayed on a disk, for all that was secret. */
import { closeSync, existsSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { suiPrivateKeyText } from "../bech32.ts";
import { openScanner, type Finding, type Scanner, type Secret, type SecretBytes } from "../secret-scan.ts";
import { entriesBelow, isGone, KEPT, notedDirectories } from "./tap-directories.ts";
import type { SecretKind } from "./unit.ts";

/** What was looked at, so that nobody takes a scan of nothing for a clean one. */
export interface ScanTally {
  /** Processes that were tapped, the test runner's own worker among them. */
  readonly processes: number;
  readonly wireBytes: number;
  readonly diskBytes: number;
  readonly logBytes: number;
  readonly secrets: Readonly<Record<SecretKind, number>>;
}

export interface ScanOutcome {
  readonly tally: ScanTally;
  /** One line each: the kind, the place and the offset there, never the secret. */
  readonly problems: readonly string[];
}

const PIECE = 16 * 1024 * 1024;
/**
 * What is in a development stack's directory and no service's (`dev/devstack`): the configuration of its owner and of the
 * agent of its main job, which hold their chain keys for them alone, and what the clients on that machine keep for themselves.
 */
const OF_CLIENTS = /(?:^|\/)(?:client\/|(?:credentials|agent|demonstration)(?:-\d+)?\.json$)/;

/** Reads everything of the unit once. The directory stays. */
export function scanUnit(directory: string): ScanOutcome {
  const secrets = readSecrets(directory);
  const places = placesOf(directory);
  const scanner = openScanner(secrets);
  const bytes = { wire: 0, disk: 0, log: 0 };
  const findings: string[] = [];
  for (const place of places) {
    const { size, found } = scanFile(scanner, place);
    bytes[place.on] += size;
    findings.push(...found.map((finding) => describe(place, finding)));
  }
  const names = readdirSync(directory);
  const tally: ScanTally = {
    processes: new Set(names.filter((name) => name.endsWith(".wire")).map((name) => name.split("-")[0])).size,
    wireBytes: bytes.wire,
    diskBytes: bytes.disk,
    logBytes: bytes.log,
    secrets: countKinds(secrets),
  };
  return { tally, problems: [...findings, ...untapped(directory), ...linesOf(directory, "problems")] };
}

interface ScannedPlace {
  readonly on: "wire" | "disk" | "log";
  readonly name: string;
  readonly path: string;
}

function placesOf(directory: string): ScannedPlace[] {
  const own = readdirSync(directory).flatMap((name): ScannedPlace[] => {
    const path = join(directory, name);
    if (name.endsWith(".wire"))
      return [{ on: "wire", name: `wire of process ${name.slice(0, -".wire".length)}`, path }];
    return name.endsWith(".log") ? [{ on: "log", name: `output ${name}`, path }] : [];
  });
  const kept = join(directory, KEPT);
  const data = [
    ...notedDirectories(directory),
    ...(existsSync(kept) ? readdirSync(kept).map((name) => join(kept, name)) : []),
  ];
  return [...own, ...data.flatMap(filesBelow)];
}

function filesBelow(root: string): ScannedPlace[] {
  return entriesBelow(root).flatMap((entry): ScannedPlace[] => {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(root.length + 1);
    return entry.isFile() && !OF_CLIENTS.test(name) ? [{ on: "disk", name: `disk of a server, ${name}`, path }] : [];
  });
}

/** A file of any size, in pieces that overlap. */
function scanFile(scanner: Scanner, { name, path }: ScannedPlace): { size: number; found: Finding[] } {
  const file = openPlace(path);
  if (file === null) return { size: 0, found: [] };
  try {
    return scanner.forms === 0 ? { size: fstatSync(file).size, found: [] } : scanPieces(scanner, name, file);
  } finally {
    closeSync(file);
  }
}

/** null: it has gone since the listing, as a write-ahead log does when its database is closed. */
function openPlace(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

const buffer = Buffer.allocUnsafeSlow(PIECE);

function scanPieces({ scan, longest }: Scanner, name: string, file: number): { size: number; found: Finding[] } {
  const found = new Map<string, Finding>();
  let [start, held] = [0, 0];
  for (;;) {
    const more = readSync(file, buffer, held, PIECE - held, start + held);
    held += more;
    // A full buffer, or the end of the file.
    if (more > 0 && held < PIECE) continue;
    for (const each of scan(name, buffer.subarray(0, held))) {
      const finding = { ...each, offset: start + each.offset };
      found.set(`${finding.kind} ${finding.form} ${finding.offset}`, finding);
    }
    if (more === 0) return { size: start + held, found: [...found.values()] };
    const again = Math.max(0, longest - 1);
    buffer.copyWithin(0, held - again, held);
    [start, held] = [start + held - again, again];
  }
}

/** On the wire also what was said before: which connection, and the last request or answer on it, without its query. */
function describe({ on, path }: ScannedPlace, { kind, form, place, offset }: Finding): string {
  const said = `${place} at ${offset}: ${kind} (${form})`;
  if (on !== "wire") return said;
  const before = Buffer.alloc(Math.min(offset, 256 * 1024));
  const file = openSync(path, "r");
  readSync(file, before, 0, before.length, offset - before.length);
  closeSync(file);
  const text = before.toString("latin1");
  const who = [...text.matchAll(/\n\[(?:port \d+ to port \d+|in process [^\]?]*)/g)].at(-1)?.[0].slice(2) ?? "?";
  const what = [...text.matchAll(/(?:GET|HEAD|POST|PUT|PATCH|DELETE) \/[^\s?]*|HTTP\/1\.1 \d{3}/g)].at(-1)?.[0] ?? "?";
  return `${said}, ${who}, after ${what}`;
}

/** What tests send in the clear on purpose is nothing to look for. */
function readSecrets(directory: string): (Secret | SecretBytes)[] {
  const allowed = linesOf(directory, "allowed").map((line) => Buffer.from(line, "hex"));
  return [...new Set(linesOf(directory, "secrets"))].flatMap((line): (Secret | SecretBytes)[] => {
    const [kind = "", hex = ""] = line.split(" ");
    const bytes = Buffer.from(hex, "hex");
    if (bytes.length === 0 || allowed.some((content) => content.includes(bytes))) return [];
    if (kind === "name") return [{ kind, text: bytes.toString() }];
    const secret = { kind, bytes };
    return kind === "chain-key" ? [secret, { kind, text: suiPrivateKeyText(bytes) }] : [secret];
  });
}

function countKinds(secrets: readonly Pick<Secret, "kind">[]): ScanTally["secrets"] {
  const count = (kind: SecretKind): number => secrets.filter((secret) => secret.kind === kind).length;
  return { content: count("content"), name: count("name"), key: count("key"), "chain-key": count("chain-key") };
}

/** Processes that were started to be tapped and were not. */
function untapped(directory: string): string[] {
  return linesOf(directory, "processes").flatMap((line) => {
    const [pid = "", ...words] = line.split(" ");
    return existsSync(join(directory, `${pid}-0.wire`))
      ? []
      : [`a process that nothing was seen of: ${words.join(" ")}`];
  });
}

/** Of all files with this ending. */
function linesOf(directory: string, ending: string): string[] {
  const names = readdirSync(directory).filter((name) => name.endsWith(`.${ending}`));
  return names.flatMap((name) =>
    readFileSync(join(directory, name), "utf8")
      .split("\n")
      .filter((line) => line !== ""),
  );
}
