/** Seal's key servers over the local chain, served by the localnet's own HTTP server under `/key-servers/`. */
import type { ChainAccess } from "../chain-access.ts";

export interface KeyServerEntry {
  readonly objectId: string;
  readonly weight: number;
  /** Base64 of 96 bytes. */
  readonly publicKey: string;
  /** Of a committee only. */
  readonly aggregatorUrl?: string;
}

export interface KeyServerSet {
  readonly threshold: number;
  readonly servers: readonly KeyServerEntry[];
}

export interface KeyServerOptions {
  /** Number of independent servers in the first set (2 of 3 by default). */
  readonly independent?: { readonly threshold: number; readonly servers: number };
}

/** How one key server misbehaves. */
export interface KeyServerFaults {
  /** Answers nothing: the connection is reset. */
  down: boolean;
  /** Waits before each answer, in milliseconds. */
  slow: number;
  /** Decides by the chain as it was when this was set to true. */
  stale: boolean;
  /** Answers with keys of another master key. */
  wrongKey: boolean;
}

export interface KeyServers {
  /** For the network configuration; the first set is for writing. URLs follow `announce`. */
  sets(): readonly KeyServerSet[];
  /** Writes the key servers' URLs, `${origin}/key-servers/…`, into their objects. Called at the start and again when the server listens. */
  announce(origin: string): Promise<void>;
  /** Answers requests whose path begins with `/key-servers/`; throws TypeError("fetch failed") for a server that is down. */
  handle(request: Request): Promise<Response>;
  faults(index: number): KeyServerFaults;
  close(): Promise<void>;
}

/** @internal Puts the key servers' objects on the chain (the same at each start) and answers for them. */
export async function startKeyServers(_chain: ChainAccess, _options: KeyServerOptions): Promise<KeyServers> {
  return {
    sets: () => [],
    announce: async () => {},
    handle: async () => new Response(null, { status: 404 }),
    faults: () => ({ down: false, slow: 0, stale: false, wrongKey: false }),
    close: async () => {},
  };
}
