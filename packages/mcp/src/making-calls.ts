/** What a tool, a resource or a prompt works with: made for each request from what the server has. */
import { TaskFailure, type AllowedFolders, type Session } from "@coffer/tasks";
import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import type { Call } from "./call.ts";
import { requireConfirmed } from "./confirm.ts";
import type { Launch } from "./launch.ts";
import type { Memory } from "./memory.ts";

/** The parts of a server that calls need. */
export interface CallParts {
  readonly launch: Launch;
  readonly session: Session;
  /** See {@link Call.handOut}. null: this machine is not the user's. */
  readonly handOut: Call["handOut"] | null;
  readonly memory: Memory;
  /** How long a host's user may take to agree, in milliseconds. Default: 30 s; hosts give up on a call after 60 s. */
  readonly answerWaitMs?: number;
}

/** What a call learns about itself on its way. */
export interface Noted {
  agreed: "user" | "token" | null;
}

export interface Making {
  /** The name of the tool, for confirmations. */
  readonly tool: string;
  readonly args: unknown;
  readonly parts: CallParts;
  /** null: nobody can be asked. */
  readonly context: ServerContext | null;
  readonly mcp: McpServer;
  readonly signal: AbortSignal;
  readonly folders: AllowedFolders;
  readonly noted: Noted;
}

export function callOf({ tool, args, parts, context, mcp, signal, folders, noted }: Making): Call {
  const { session, launch, memory, handOut } = parts;
  const { taint, confirmations } = memory;
  const onAgreed = (who: "user" | "token"): void => {
    noted.agreed = who;
  };
  return reporting({
    ...{
      signal,
      folders,
      transfers: memory.transfers,
      isTainted: () => taint.isTainted && launch.confirm !== "token",
      isRemote: handOut === null,
      agreedVaults: memory.agreedVaults,
    },
    progress: context === null ? () => undefined : progressSender(context),
    client: () => session.client(),
    pinnedVault: launch.vaultId,
    revealsSharedText: launch.revealSharedText,
    setup: () => session.setup(),
    chainAddress: () => session.chainAddress(),
    taint: () => {
      taint.isTainted = true;
    },
    requireHandOut: () => {
      if (handOut === null) throw new TaskFailure("remote_server", { message: "No file here reaches the user" });
    },
    handOut: (name, secret) => handOut?.(name, secret) ?? Promise.resolve(null),
    confirm: async (request) => {
      if (context === null) throw new TaskFailure("confirmation_required");
      const mode = launch.confirm;
      const { answerWaitMs } = parts;
      const asking = { mcp, context, confirmations, mode, isTainted: taint.isTainted, answerWaitMs, onAgreed };
      await requireConfirmed(asking, tool, args, request);
    },
  });
}

function reporting(call: Omit<Call, "withProgress">): Call {
  return {
    ...call,
    withProgress: (progress) =>
      reporting({
        ...call,
        progress: (done, total) => {
          progress(done, total);
          call.progress(done, total);
        },
      }),
  };
}

const PROGRESS_EVERY_BYTES = 1 << 20;

/** Sends `notifications/progress` when the client asked for them: on every MiB and at the end, always rising. */
function progressSender(context: ServerContext): (done: number, total: number) => void {
  const progressToken = context.mcpReq._meta?.progressToken;
  let last = -1;
  return (done, total) => {
    const due = done >= last + PROGRESS_EVERY_BYTES || (done === total && done > last);
    if (progressToken === undefined || !due) return;
    last = done;
    context.mcpReq
      .notify({ method: "notifications/progress", params: { progressToken, progress: done, total } })
      .catch(() => undefined);
  };
}
