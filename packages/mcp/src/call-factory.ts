/** What a tool, a resource or a prompt works with: made for each request from what the server has. */
import { findKeptInvites, TaskFailure, type AllowedFolders, type Session } from "@coffer/tasks";
import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import type { Call, ConfirmRequest } from "./call.ts";
import { requireConfirmed } from "./confirm.ts";
import { createGate, type Gate, type GateParts } from "./gate.ts";
import type { Launch } from "./launch.ts";
import type { Memory } from "./credential-state.ts";

/** The parts of a server that calls need. */
export interface CallParts {
  readonly launch: Launch;
  readonly session: Session;
  /** See {@link Call.handOut}. null: this machine is not the user's. */
  readonly handOut: Call["handOut"] | null;
  /** Of the process whose configuration holds the invites that it made; absent: none are kept. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly memory: Memory;
  /** How long a host's user may take to agree, in milliseconds. Default: 30 s; hosts give up on a call after 60 s. */
  readonly answerWaitMs?: number;
}

/** What a call learns about itself on its way. */
export interface Noted {
  agreed: "user" | "token" | null;
  /** What the gate threw: it ends the call, also where an act on several files made it the outcome of one. */
  refusal: { readonly thrown: unknown } | null;
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
  readonly downloads: AllowedFolders;
  readonly noted: Noted;
}

export function callOf(making: Making): Call {
  const { tool, args, parts, context, mcp, signal, folders, downloads, noted } = making;
  const { session, launch, memory, handOut, env } = parts;
  const { taint, confirmations } = memory;
  const onAgreed = (who: "user" | "token"): void => {
    noted.agreed = who;
  };
  const confirm = async (request: ConfirmRequest): Promise<void> => {
    if (context === null) throw new TaskFailure("confirmation_required");
    const mode = launch.confirm;
    const { answerWaitMs } = parts;
    const asking = { mcp, context, confirmations, mode, isTainted: taint.isTainted, answerWaitMs, onAgreed };
    await requireConfirmed(asking, tool, args, request);
  };
  const gate = gateOf(making, confirm);
  return reporting({
    signal,
    folders,
    downloads,
    transfers: memory.transfers,
    isRemote: handOut === null,
    progress: context === null ? () => undefined : progressSender(context),
    client: async () => (gate === null ? await session.client() : (await gate.open()).client),
    clientFor: async (into) => (gate === null ? await session.client() : await (await gate.open()).clientFor(into)),
    pinnedVault: launch.vaultId,
    revealsSharedText: launch.revealSharedText,
    setup: () => session.setup(),
    network: () => session.network(),
    chainAddress: () => session.chainAddress(),
    taint: () => {
      taint.isTainted = true;
    },
    noteClosed: () => {
      taint.isClosed = true;
    },
    requireHandOut: () => {
      if (handOut === null) throw new TaskFailure("remote_server", { message: "No file here reaches the user" });
    },
    keptInvites: async () =>
      env === undefined ? new Map() : await findKeptInvites(await session.client(), env, signal),
    handOut: (name, secret) => handOut?.(name, secret) ?? Promise.resolve(null),
    confirm: async (request) => {
      await confirm(request);
      if (noted.agreed === "user") gate?.noteAgreed();
    },
  });
}

/** The gate of one call; null: nothing was shown before it. What is shown meanwhile did not choose its arguments. */
function gateOf({ parts, signal, noted }: Making, confirm: Call["confirm"]) {
  const { launch, memory, session } = parts;
  const { isClosed, isTainted } = memory.taint;
  if (!isTainted || launch.confirm === "token") return null;
  let isCallAgreed = false;
  const ask: GateParts["ask"] = async (preview, state, stateNow) => {
    try {
      await confirm({ preview, state, stateNow, token: undefined, isFinal: true });
    } catch (thrown) {
      noted.refusal = { thrown };
      throw thrown;
    }
  };
  const make = async (): Promise<Gate> => {
    const client = await session.client();
    const ownAddress = await session.chainAddress();
    const known = { client, memory, isClosed, pinnedVault: launch.vaultId, ownAddress, signal };
    return createGate({ ...known, isCallAgreed: () => isCallAgreed, ask });
  };
  let opened: Promise<Gate> | undefined;
  return {
    open: (): Promise<Gate> => (opened ??= make()),
    /** A person agreed to this very call. */
    noteAgreed: (): void => {
      isCallAgreed = true;
    },
  };
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
