/** Whether key servers answer: for `checkAccess`, in words. No decision depends on it. */
import { isError } from "@coffer/contract";
import { ChainError, type ChainErrorCode } from "../errors.ts";
import { openKeyServers, nameKeyServer, type KeyServerGroup } from "./key-server-group.ts";
import type { KeyServer } from "../network.ts";
import { isRedirect, versionOf } from "./outcomes.ts";
import type { KeyWrapParts } from "./key-wrap-parts.ts";

export interface KeyServerStatus {
  readonly objectId: string;
  /** As in "key server 2 of 3 (0x1234…cdef)". */
  readonly name: string;
  readonly state: "ok" | "failed" | "unknown";
  /** Present when it failed. */
  readonly code?: ChainErrorCode;
  /** The problem, in words; present unless all is well. */
  readonly detail?: string;
}

/** Milliseconds. A key server that needs longer counts as away. */
const PATIENCE = 3_000;

/** The state of the set for writing. Never rejects. */
export async function checkKeyServers(parts: KeyWrapParts): Promise<KeyServerStatus[]> {
  const [set] = parts.network.keyServerSets;
  if (set === undefined) return [];
  const status = (server: KeyServer, facts: Omit<KeyServerStatus, "objectId" | "name">): KeyServerStatus => ({
    objectId: server.objectId,
    name: nameKeyServer(set, server),
    ...facts,
  });
  // The memory may be what is wrong.
  parts.reads.forget();
  const { reads, fetch, network } = parts;
  const options = { client: reads.client, fetch, timeout: PATIENCE, keys: 0, network: network.network };
  const group = await withPatience(openKeyServers(set, options)).catch((error: unknown) => error);
  if (isError(group) || !isGroup(group)) return set.servers.map((server) => status(server, explainUnread(group)));
  return await Promise.all(set.servers.map(async (server) => status(server, await askService(parts, group, server))));
}

/** It gives up on a chain node that does not answer, and does not wait for later answers. */
async function withPatience<T>(promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ChainError("chain_unavailable")), PATIENCE);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function isGroup(value: unknown): value is KeyServerGroup {
  return typeof value === "object" && value !== null && "urls" in value;
}

function explainUnread(error: unknown): Omit<KeyServerStatus, "objectId" | "name"> {
  const changed = error instanceof ChainError && error.code === "network_changed";
  if (changed) return { state: "failed", code: error.code, detail: error.message };
  return { state: "unknown", detail: "The chain node does not say where this key server is." };
}

async function askService(
  { fetch }: KeyWrapParts,
  group: KeyServerGroup,
  server: KeyServer,
): Promise<Omit<KeyServerStatus, "objectId" | "name">> {
  const failed = (detail: string): Omit<KeyServerStatus, "objectId" | "name"> => {
    return { state: "failed", code: "key_servers_unavailable", detail };
  };
  const { aggregatorUrl, apiKeyName, apiKey, objectId } = server;
  try {
    const response = await fetch(`${group.urls.get(objectId) ?? ""}/v1/service?service_id=${objectId}`, {
      headers: {
        "Client-Sdk-Type": "typescript",
        "Client-Sdk-Version": SDK_VERSION,
        ...(apiKeyName === undefined || apiKey === undefined ? {} : { [apiKeyName]: apiKey }),
      },
      signal: AbortSignal.timeout(PATIENCE),
      redirect: "manual",
    });
    await response.body?.cancel();
    if (isRedirect(response)) return failed("It sends its callers to another address, which is not asked.");
    if (response.status === 401 || response.status === 403)
      return failed(
        `It refuses its callers with HTTP status ${response.status}: it may want an API key, or another one.`,
      );
    const version = versionOf(response.headers);
    if (version === "foreign") return failed("What answers is not a key server.");
    if (version === "outdated") return failed("It runs a version that is too old for this client.");
    // An aggregator has no key of its own to describe: any answer shows that it is there.
    if (response.ok || aggregatorUrl !== undefined) return { state: "ok" };
    return failed(`It answers with HTTP status ${response.status}.`);
  } catch (error) {
    const slow = isError(error) && error.name === "TimeoutError";
    const code = systemCode(error);
    return failed(slow ? "It takes too long to answer." : `It cannot be reached${code === null ? "" : ` (${code})`}.`);
  }
}

/** What the system says of a failed request: ECONNREFUSED, or of a certificate. */
function systemCode(error: unknown): string | null {
  for (let each = error, depth = 0; isError(each) && depth < 5; each = each.cause, depth += 1)
    if ("code" in each && typeof each.code === "string" && /^[A-Z][A-Z0-9_]{1,63}$/.test(each.code)) return each.code;
  return null;
}

/** Key servers require the version; they refuse versions that are too old. */
const SDK_VERSION = "1.4.12";
