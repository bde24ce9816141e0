/** The folders that a client names as its roots. They never widen what the flags allow. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";

/** What only a 2025-era connection has: capabilities sent once, and requests of the server. */
interface InitializedPeer {
  getClientCapabilities(): { readonly roots?: object | undefined } | undefined;
  listRoots(
    params: undefined,
    options: { readonly timeout: number },
  ): Promise<{ readonly roots: { readonly uri: string }[] }>;
}

const ROOTS_WAIT_MS = 5_000;

/**
 * The client's roots. A 2025-era client is asked over the connection. A 2026-era one answers in the next round of the
 * same call ("ask"). A client that declares roots but does not list them has one that is nowhere: with `--roots only` a
 * failure here must not widen access.
 */
export async function clientRoots(mcp: McpServer, context: ServerContext): Promise<readonly string[] | "ask"> {
  const envelope = context.mcpReq.envelope;
  if (envelope === undefined) {
    const peer: InitializedPeer = mcp.server;
    if (peer.getClientCapabilities()?.roots === undefined) return [];
    const answer = await peer
      .listRoots(undefined, { timeout: ROOTS_WAIT_MS })
      .catch(() => ({ roots: [{ uri: UNLISTED }] }));
    return answer.roots.map((root) => root.uri);
  }
  if (!declaresRoots(Object.entries(envelope))) return [];
  const responses = context.mcpReq.inputResponses;
  return responses === undefined ? "ask" : rootUris(responses["roots"]);
}

/** A client of the 2026 era answers what the last round asked, and no more: its roots are asked for again with each question. */
export function withRoots(result: InputRequiredResult, { mcpReq }: ServerContext): InputRequiredResult {
  const declares = mcpReq.envelope !== undefined && declaresRoots(Object.entries(mcpReq.envelope));
  const roots = declares ? { roots: inputRequired.listRoots() } : {};
  return { ...result, inputRequests: { ...roots, ...result.inputRequests } };
}

function declaresRoots(envelope: readonly [string, unknown][]): boolean {
  const capabilities = envelope.find(([key]) => key === CLIENT_CAPABILITIES_META_KEY)?.[1];
  return typeof capabilities === "object" && capabilities !== null && "roots" in capabilities;
}

/** It resolves to no folder, and status_check shows it. */
const UNLISTED = "what the client did not list";

/** The library did not check this answer. */
function rootUris(response: unknown): string[] {
  if (typeof response !== "object" || response === null || !("roots" in response) || !Array.isArray(response.roots))
    return [UNLISTED];
  return response.roots.map((root: unknown) =>
    typeof root === "object" && root !== null && "uri" in root && typeof root.uri === "string" ? root.uri : UNLISTED,
  );
}
