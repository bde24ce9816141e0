/** What transfers show while they run, and when they are done. */
import {
  inCommandWords,
  untrusted,
  type FileProgress,
  type Task,
  type TransferRow,
  type Untrusted,
} from "@coffer/tasks";
import type { Context } from "../../context.ts";
import { exitOfActs } from "../../exit-codes.ts";
import { isFailureCode, nextStepOf } from "../../failure-texts.ts";
import { done, type Document } from "../../result.ts";
import { sizeText } from "../../terminal/visible.ts";

/** Runs a transfer with its progress on the terminal: of all of it, and of the file that moved last. */
export async function withProgress<Outcome>(
  context: Context,
  title: string,
  work: (task: Task) => Promise<Outcome>,
): Promise<Outcome> {
  const line = context.progress(title);
  try {
    return await work({
      ...context.task,
      progress: (bytes, total, file) => {
        if (file === undefined) {
          line.update(bytes, total);
          return;
        }
        Object.assign(context.transferCount, { files: file.files, totalFiles: file.totalFiles });
        line.update(bytes, total, countsOf(file), untrusted(file.path).visible());
      },
    });
  } finally {
    line.end();
  }
}

function countsOf({ bytes, files, size, totalFiles }: FileProgress): string {
  const share = size > 0 ? ` ${String(Math.floor((100 * bytes) / size))}%` : "";
  return `${String(files)}/${String(totalFiles)}${share}`;
}

/** The words of a report. */
export interface TransferReportOptions {
  readonly moved: "uploaded" | "downloaded";
  /** What to do about a file that exists on the other side and differs. */
  readonly differs: string;
  readonly dryRun: boolean;
}

/** A line for each file that failed or was left out, then the counts. */
export function transferReport(
  rows: readonly TransferRow[],
  { differs, dryRun, moved }: TransferReportOptions,
  more: Readonly<Record<string, unknown>> = {},
): Document {
  const of = (...acts: readonly TransferRow["act"][]): TransferRow[] => rows.filter(({ act }) => acts.includes(act));
  const transferred = of("created", "replaced", "would send");
  const bytes = transferred.reduce((sum, row) => sum + row.bytes, 0);
  const counts = {
    [moved]: transferred.length,
    unchanged: of("unchanged").length,
    failed: of("failed").length,
    skipped: of("skipped").length,
  };
  const files = rows.map(({ act, why, nextStep, ...row }) => ({
    ...row,
    act: act === "would send" ? "planned" : act,
    why: why?.visible() ?? null,
    ...(nextStep === undefined ? {} : { nextStep: stepOf(row.code, nextStep) }),
  }));
  const words = Object.entries(counts).map(([word, count]) => `${word} ${String(count)}`);
  const summary = `${dryRun ? "Would be " : ""}${words.join(", ")} (${sizeText(bytes)})`;
  return done(
    { ...more, dryRun, ...counts, bytes, files },
    [
      ...of("skipped").map(({ code, path }) => untrusted(`skipped: ${path}${code === null ? "" : ` (${code})`}`)),
      ...of("failed").map((row) => failedLine(row, differs)),
      `${summary.charAt(0).toUpperCase()}${summary.slice(1)}`,
    ],
    { exit: exitOfActs(counts.failed) },
  );
}

function failedLine({ code, nextStep, path, why }: TransferRow, differs: string): Untrusted {
  if (code === "destination_exists") return untrusted(`failed: ${path}: ${differs}`);
  const step = nextStep === undefined ? "" : `; ${stepOf(code, nextStep)}`;
  return untrusted(`failed: ${path}: ${why?.visible() ?? code ?? ""}${step}`);
}

/** Codes of the catalogues have words for people; what the SDK alone says of a folder names its methods. */
function stepOf(code: string | null, nextStep: string): string {
  return code !== null && isFailureCode(code) ? nextStepOf(code, "upload") : inCommandWords(nextStep);
}
