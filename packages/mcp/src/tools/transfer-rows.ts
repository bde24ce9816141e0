/** How a report of many files is shown: counts, then what failed, and never more than a screen of it. */
import { inToolWords, type TransferRow, untrusted } from "@coffer/tasks";
import type { Fact, Outcome } from "../result.ts";
import { COUNT, TEXT } from "../schema.ts";

/** Rows of one answer. 500 files make one answer of at most 600 tokens. */
const MOST_SHOWN = 20;

export const REPORT = {
  created: COUNT,
  replaced: COUNT,
  unchanged: COUNT,
  skipped: COUNT,
  failed: COUNT,
  planned: COUNT,
  bytes: COUNT,
  nextCursor: TEXT,
  nextStep: TEXT,
  transferId: TEXT,
};

export function reportOf(files: readonly TransferRow[], start = 0): Outcome {
  const count = (act: TransferRow["act"]): number => files.filter((file) => file.act === act).length;
  const counts = {
    created: count("created"),
    replaced: count("replaced"),
    unchanged: count("unchanged"),
    skipped: count("skipped"),
    failed: count("failed"),
    planned: count("would send"),
  };
  const moved = files.filter(({ act }) => act === "created" || act === "replaced" || act === "would send");
  // What went well needs no line each: what did not comes first.
  const exceptions = files.filter(({ act }) => act === "failed" || act === "skipped");
  const rows = exceptions.length > 0 || files.length > MOST_SHOWN ? exceptions : files;
  const pageRows = rows.slice(start, start + MOST_SHOWN);
  const isMore = rows.length > start + pageRows.length;
  return {
    summary: summaryOf(counts),
    facts: {
      ...Object.fromEntries(Object.entries(counts).filter(([, number]) => number > 0)),
      bytes: moved.reduce((sum, { bytes }) => sum + bytes, 0),
      ...(isMore ? { nextCursor: String(start + pageRows.length) } : {}),
      ...(counts.failed > 0 ? { nextStep: "Mend what the rows name, then call again: it sends the rest only." } : {}),
    },
    ...(pageRows.length === 0
      ? {}
      : { table: { name: "rows", columns: ["act", "fileId", "bytes", "path", "why"], rows: pageRows.map(rowOf) } }),
  };
}

function rowOf({ act, fileId, bytes, path, code, why, nextStep }: TransferRow): Fact[] {
  const step = nextStep === undefined ? "" : `. ${inToolWords(nextStep)}`;
  return [
    act,
    fileId === null ? null : fileId.slice(0, 8),
    fileId === null ? null : bytes,
    untrusted(path),
    why === null ? code : untrusted(`${why.visible()}${step}`),
  ];
}

function summaryOf(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).filter(([, number]) => number > 0);
  return parts.length === 0
    ? "Nothing to do."
    : `${parts.map(([name, number]) => `${String(number)} ${name}`).join(", ")}.`;
}
