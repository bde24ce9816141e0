/** What `npm start` prints when the stack is ready. */
import type { StackAgent } from "./agent.ts";
import { clientConfiguration, ONE_FILE } from "./launcher.ts";
import type { JobReport } from "./main-job.ts";
import { nextSteps } from "./next-steps.ts";
import type { Stack } from "./stack.ts";
import type { ArrivalReport } from "./webhook-sink/arrivals.ts";

/** What the demonstration came to, and which of its uploads were delivered to the webhook. */
export interface Demonstration {
  readonly job: JobReport;
  readonly arrived: ArrivalReport;
  readonly ok: boolean;
}

export interface StartReport {
  readonly stack: Stack;
  /** What the user's agent may touch. */
  readonly folder: string;
  readonly agent: StackAgent;
  /** null: this start served at once. */
  readonly demonstration: Demonstration | null;
  /** What other shells source. */
  readonly environmentFile: string;
  readonly shownAt: {
    /** For people. */
    readonly pageUrl: string;
    /** For deliveries. */
    readonly hookUrl: string;
    readonly webhookId: string;
  };
}

/** The one document of `--json`. */
export function renderDocument({ stack, folder, agent, demonstration, shownAt, environmentFile }: StartReport): string {
  const { baseUrl, credentialsFile, networkFile, networkSeconds, dataDirectory, newAccount } = stack;
  // The agent's key has an end and one vault. The owner's is nobody's to paste.
  const mcp = clientConfiguration(agent.credentialsFile, folder);
  const chain = { networkFile, seconds: networkSeconds };
  const job = demonstration?.job ?? null;
  const webhooks = { ...shownAt, ...(demonstration?.arrived ?? null) };
  const document = { baseUrl, credentialsFile, environmentFile, chain, dataDirectory, newAccount, job, webhooks, mcp };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** For people, who have read the story as it happened. `places`: of the repository and of the user. */
export function renderTable(
  { stack, folder, agent, demonstration, shownAt, environmentFile }: StartReport,
  places: { readonly repository: string; readonly workingDirectory: string },
  staysUp: boolean,
): string {
  const lines = [
    "",
    ...(demonstration === null ? [] : demonstrated(demonstration)),
    ...table([
      ["service", stack.baseUrl],
      ["page", `${shownAt.pageUrl} (webhook deliveries as they arrive)`],
      ["network", `${stack.networkFile} (chain and key servers, for SERVICE_NETWORK_FILE)`],
      [
        "keys",
        `${stack.credentialsFile} (the owner's: ${stack.newAccount ? "a new account" : "the account of an earlier run"})`,
      ],
      ["agent", `${agent.credentialsFile} (the agent's keys)`],
      ["program", `${ONE_FILE} (coffer in one file, for Node 22.18 or later)`],
    ]),
    "",
    ...(staysUp
      ? nextSteps({ ...stack, ...places, folder, environmentFile, agentFile: agent.credentialsFile })
      : ["Without --once the service stays up, and blocks to paste are printed here.", ""]),
  ];
  return `${lines.join("\n")}\n`;
}

function demonstrated({ job, arrived }: Demonstration): string[] {
  return [
    ...table([
      ["folder", shown(job.folder)],
      ["vault", `${job.vaultId}, shared: encrypted before it leaves the client`],
      ["chain", job.chainObjectId ?? ""],
      ["agent", `${job.agentAddress}, removed at the end`],
      ["files", `${String(job.files)}, ${String(job.folders)} folders below the top`],
      ["bytes", job.bytes.toLocaleString("en-US")],
      ["upload", speed(job.uploadSeconds, job.bytes)],
      ["download", speed(job.downloadSeconds, job.bytes)],
      ["verified", `${String(job.verified)} of ${String(job.files)} files, every byte`],
      ["webhooks", `${String(arrived.arrived)} of ${String(arrived.expected)} uploads delivered, each verified`],
    ]),
    "",
    ...job.skipped.map(({ path, reason }) => `  left out  ${shown(path)}: ${reason}`),
    ...(arrived.failed === 0 ? [] : [`  FAILED    ${String(arrived.failed)} deliveries: see the page`]),
    ...job.failed.map(({ path, reason }) => `  FAILED    ${shown(path)}: ${reason}`),
    "",
  ];
}

function table(rows: readonly (readonly [string, string])[]): string[] {
  return rows.map(([name, value]) => `  ${name.padEnd(10)}${value}`);
}

function speed(seconds: number, bytes: number): string {
  const mebibytes = bytes / 1024 / 1024;
  return `${seconds.toFixed(2)} s (${(mebibytes / Math.max(seconds, 0.001)).toFixed(1)} MiB/s)`;
}

/** A local name may hold what moves a cursor: it is spelled out. */
export function shown(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => JSON.stringify(character).slice(1, -1));
}
