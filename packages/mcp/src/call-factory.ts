/** What a tool, a resource or a prompt works with: made for each request from what the server has. */
import { findProvenInvites, TaskFailure, type AllowedFolders, type ServiceLink } from "@coffer/tasks";
import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import type { Call, ConfirmRequest } from "./call.ts";
import { requireConfirmed } from "./confirm.ts";
import { createGate, type Gate, type GateOptions } from "./gate.ts";
import type { Launch } from "./launch.ts";
import type { CredentialState } from "./credential-state.ts";

/** The parts of a server that calls need. */
export interface CallOptions {
  readonly launch: Launch;
  readonly serviceLink: ServiceLink;
  /** See {@link Call.handOut}. null: this machine is not the user's. */
  readonly handOut: Call["handOut"] | null;
  /** Of the process whose configuration holds the invites that it made; absent: none are kept. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly credentialState: CredentialState;
  /** How long a host's user may take to agree, in milliseconds. Default: 30 s; hosts give up on a call after 60 s. */
  readonly answerWaitMs?: number;
}

/** What is recorded of a call on its way. */
export interface CallNotes {
  agreed: "user" | "token" | null;
  /** What the gate threw: it ends the call, also where an act on several files made it the outcome of one. */
  refusal: { readonly thrown: unknown } | null;
}

export interface CallRequest {
  /** The name of the tool, for confirmations. */
  readonly tool: string;
  readonly args: unknown;
  readonly parts: CallOptions;
  /** null: nobody can be asked. */
  readonly context: ServerContext | null;
  readonly mcp: McpServer;
  readonly signal: AbortSignal;
  readonly folders: AllowedFolders;
  readonly downloads: AllowedFolders;
  readonly notes: CallNotes;
}

export function createCall(callRequest: CallRequest): Call {
  const { tool, args, parts, context, mcp, signal, folders, downloads, notes } = callRequest;
  const { serviceLink, launch, credentialState, handOut, env } = parts;
  const { taint, confirmations } = credentialState;
  const onAgreed = (who: "user" | "token"): void => {
    notes.agreed = who;
  };
  const confirm = async (request: ConfirmRequest): Promise<void> => {
    if (context === null) throw new TaskFailure("confirmation_required");
    const mode = launch.confirm;
    const { answerWaitMs } = parts;
    const asking = { mcp, context, confirmations, mode, isTainted: taint.isTainted, answerWaitMs, onAgreed };
    await requireConfirmed(asking, tool, args, request);
  };
  const gate = gateOf(callRequest, confirm);
  return watchable({
    signal,
    folders,
    downloads,
    transfers: credentialState.transfers,
    isRemote: handOut === null,
    progress: context === null ? () => undefined : progressSender(context),
    client: async () => (gate === null ? await serviceLink.client() : (await gate.open()).client),
    clientFor: async (into) => (gate === null ? await serviceLink.client() : await (await gate.open()).clientFor(into)),
    pinnedVault: launch.vaultId,
    revealsSharedText: launch.revealSharedText,
    setup: () => serviceLink.setup(),
    network: () => serviceLink.network(),
    chainAddress: () => serviceLink.chainAddress(),
    taint: () => {
      taint.isTainted = true;
    },
    recordClosedContent: () => {
      taint.isClosed = true;
    },
    requireHandOut: () => {
      if (handOut === null) throw new TaskFailure("remote_server", { message: "No file here reaches the user" });
    },
    storedInvites: async () =>
      env === undefined ? new Map() : await findProvenInvites(await serviceLink.client(), env, signal),
    handOut: (name, secret) => handOut?.(name, secret) ?? Promise.resolve(null),
    confirm: async (request) => {
      await confirm(request);
      if (notes.agreed === "user") gate?.noteAgreed();
    },
  });
}

/** The gate of one call; null: nothing was shown before it. What is shown meanwhile did not choose its arguments. */
function gateOf({ parts, signal, notes }: CallRequest, confirm: Call["confirm"]) {
  const { launch, credentialState, serviceLink } = parts;
  const { isClosed, isTainted } = credentialState.taint;
  if (!isTainted || launch.confirm === "token") return null;
  let isCallAgreed = false;
  const ask: GateOptions["ask"] = async (preview, state, stateNow) => {
    try {
      await confirm({ preview, state, stateNow, token: undefined, isFinal: true });
    } catch (thrown) {
      notes.refusal = { thrown };
      throw thrown;
    }
  };
  const make = async (): Promise<Gate> => {
    const client = await serviceLink.client();
    const ownAddress = await serviceLink.chainAddress();
    const resources = { client, credentialState, isClosed, pinnedVault: launch.vaultId, ownAddress, signal };
    return createGate({ ...resources, isCallAgreed: () => isCallAgreed, ask });
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

function watchable(call: Omit<Call, "watchedBy">): Call {
  return {
    ...call,
    watchedBy: ({ progress, signal }) =>
      watchable({
        ...call,
        signal: AbortSignal.any([call.signal, signal]),
        progress: (done, total) => {
          progress(done, total);
          call.progress(done, total);
        },
      }),
  };
}

const PROGRESS_EVERY_BYTES = 1 << 20;
/** With the last one, a host gets two in a second at most. */
const PROGRESS_EVERY_MS = 1_000;

/** Sends `notifications/progress` when the client asked for them: on a further MiB, not more often than each second, and at the end, always rising. */
function progressSender(context: ServerContext): (done: number, total: number) => void {
  const progressToken = context.mcpReq._meta?.progressToken;
  let last = -1;
  let lastAt = -Infinity;
  return (done, total) => {
    const now = performance.now();
    const isDue = done >= last + PROGRESS_EVERY_BYTES && now >= lastAt + PROGRESS_EVERY_MS;
    if (progressToken === undefined || !(isDue || (done === total && done > last))) return;
    last = done;
    lastAt = now;
    context.mcpReq
      .notify({ method: "notifications/progress", params: { progressToken, progress: done, total } })
      .catch(() => undefined);
  };
}
