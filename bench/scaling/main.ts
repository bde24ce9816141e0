/**
 * `npm run scaling`: simulates the service from the numbers in docs/scaling.json, draws docs/scaling.svg and writes the tables of
 * docs/scaling.md. `npm run scaling -- times` and `sizes` measure those numbers on this machine first.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { format, resolveConfig } from "prettier";
import { type Curve, findKnee, IN_TIME } from "./knees.ts";
import { measureSizes, measureTimes, type Sizes, type TableSize, type Times } from "./measure.ts";
import type { Costs } from "./model.ts";
import { drawCurves } from "./picture.ts";

const at = (name: string): URL => new URL(`../../docs/scaling.${name}`, import.meta.url);
/** How many files the sizes are measured with, and calculated for. */
const MEASURED = 1_000_000;
const WANTED = 100_000_000;
const WRITES = 0.05;
const PROCESSES = [1, 2, 4, 8, 16, 32] as const;
const CORES = 8;

interface Numbers {
  readonly times: Times;
  readonly sizes: Sizes;
}

const asked = process.argv.slice(2);
const measured: Partial<Numbers> = {
  ...(asked.includes("times") && { times: await measureTimes() }),
  ...(asked.includes("sizes") && { sizes: await measureSizes(MEASURED) }),
};
const numbers: Numbers = { ...(JSON.parse(readFileSync(at("json"), "utf8")) as Numbers), ...measured };
writeFileSync(at("json"), `${JSON.stringify(numbers, null, 2)}\n`);

const { times, sizes } = numbers;
const costs: Costs = {
  node: { read: times.node.read / 1000, write: times.node.write / 1000 },
  database: { read: times.database.read / 1000, write: times.database.write / 1000 },
  flush: 1000 / times.commits.one,
};
const many = { writes: WRITES, accounts: 10_000, cores: CORES };
const curves = PROCESSES.map((processes) => findKnee(costs, { ...many, processes }));
const small = findKnee(costs, { ...many, processes: 32, cores: 2 });
const hot = findKnee(costs, { writes: 1, accounts: 1, processes: 8, cores: CORES });
writeFileSync(at("svg"), drawCurves(curves));
await writePage();

async function writePage(): Promise<void> {
  const page = readFileSync(at("md"), "utf8");
  const parts: Readonly<Record<string, string>> = {
    times: timesTable(),
    sizes: sizesTable(),
    knees: kneesTable(),
    cost: costTable(),
  };
  const text = Object.entries(parts).reduce(
    (whole, [name, table]) =>
      whole.replace(
        new RegExp(`(<!-- ${name}:[^>]*-->\n)[\\s\\S]*?(<!-- end -->)`),
        (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`,
      ),
    page,
  );
  const options = await resolveConfig(at("md").pathname);
  writeFileSync(at("md"), await format(text, { ...options, parser: "markdown" }));
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, column) => (column === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

function whole(value: number): string {
  const digits = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return (Math.round(value / digits) * digits).toLocaleString("en");
}

function timesTable(): string {
  const { node, database, commits } = times;
  return table(
    ["measured", ""],
    [
      ["GET of a file's metadata: Node, µs of processor", whole(node.read)],
      ["the same: PostgreSQL, µs", whole(database.read)],
      ["upload of 1 KiB: Node, µs", whole(node.write)],
      ["the same: PostgreSQL, µs", whole(database.write)],
      ["its transactions, single reads among them", times.transactions.toFixed(1)],
      ["GETs a second, one process", whole(times.reads)],
      ["uploads a second, 16 accounts, one process", whole(times.uploads)],
      ["uploads a second, one account, 8 at once", whole(times.uploadsOfOneAccount)],
      ["commits a second, one connection", whole(commits.one)],
      ["commits a second, 16 connections, a row each", whole(commits.sixteen)],
      ["commits a second, 16 connections, one row", whole(commits.hotRow)],
    ],
  );
}

function sizesTable(): string {
  const gigabytes = (bytes: number): string => `${whole(((bytes / MEASURED) * WANTED) / 1e9)} GB`;
  const row = (name: string, { rows, tableBytes, indexBytes }: TableSize) => [
    name,
    whole(rows),
    whole(tableBytes / rows),
    whole(indexBytes / rows),
    gigabytes(tableBytes),
    gigabytes(indexBytes),
  ];
  const head = [
    "table",
    "rows, measured",
    "bytes a row",
    "of its indexes",
    "at 10⁸ files, calculated",
    "indexes, calculated",
  ];
  return table(
    head,
    Object.entries(sizes).map(([name, size]) => row(name, size)),
  );
}

function kneesTable(): string {
  const row = ({ load, knee, bound }: Curve, about: string) => [load.processes, load.cores, about, whole(knee), bound];
  const head = [
    "processes",
    "cores of PostgreSQL",
    "load",
    `requests a second within ${String(IN_TIME)} ms`,
    "what is full",
  ];
  const mixed = `${String(WRITES * 100)} % writes`;
  return table(head, [
    ...curves.map((curve) => row(curve, mixed)),
    row(small, mixed),
    row(hot, "uploads to one account"),
  ]);
}

function costTable(): string {
  const hours = (microseconds: number): string => `${(microseconds / 3600).toFixed(2)} h`;
  const row = (name: string, kind: "read" | "write") => [name, hours(times.node[kind]), hours(times.database[kind])];
  return table(
    ["a million of", "Node, core hours", "PostgreSQL, core hours"],
    [row("GETs of metadata", "read"), row("uploads of 1 KiB", "write")],
  );
}
