/** The local network: a chain, its faucet and its Seal key servers, in one process. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { PACKAGE_DIGEST } from "@coffer/chain/package";
import type { ChainAccess } from "./chain-access.ts";
import { accessTo } from "./chain/access.ts";
import { PACKAGE_ID } from "./chain/genesis.ts";
import { LateView } from "./chain/late-view.ts";
import { Ledger, type LedgerView } from "./chain/ledger.ts";
import { type FaucetGift, openFaucet } from "./faucet.ts";
import { listen, type HttpServer } from "./http-server.ts";
import {
  type KeyServerFaults,
  type KeyServerOptions,
  type KeyServerRequests,
  type KeyServers,
  type KeyServerSet,
  startKeyServers,
} from "./key-servers/index.ts";
import { answerRpc } from "./rpc/services.ts";

export interface LocalnetOptions {
  /** Where chain and key servers are kept; without it they are gone when the localnet is closed. */
  readonly directory?: string;
  /** Milliseconds since 1970; the system's clock by default. */
  readonly clock?: () => number;
  readonly keyServers?: KeyServerOptions;
  /** Gives SUI to addresses that have none to pay with. Default true, so that the first try works. */
  readonly autoFund?: boolean;
  /** How many epochs a transaction may be valid in: two by default, one as by older protocols. */
  readonly validEpochs?: 1 | 2;
  /** So many random bytes; the system's by default. */
  readonly random?: (size: number) => Uint8Array;
}

/** How the node misbehaves, for tests. */
export interface NodeFaults {
  /** Answers nothing: the connection is reset. */
  down: boolean;
  /** Waits before each answer, in milliseconds. */
  slow: number;
  /** Answers by the chain as it was when this was set to true; its checkpoints do not move. */
  stale: boolean;
}

/** Another node of the chain, for programs that do not use the same one. */
export interface LateNode {
  /** On this machine, for reading and sending as the first one; key servers are not there. */
  readonly url: string;
  /** Milliseconds that it is behind the chain, up to a minute; below zero its clock is ahead, as far. What is sent through it is executed at once. */
  lag: number;
}

/** The shape of a network configuration; `@coffer/chain` parses it. A copy: whoever asked may change it. */
export interface LocalNetworkConfiguration {
  network: "localnet";
  chainId: string;
  grpcUrl: string;
  originalPackageId: string;
  latestPackageId: string;
  packageDigest: string;
  keyServerSets: { threshold: number; servers: KeyServerSet["servers"][number][] }[];
}

export interface Localnet {
  /** In-process: the chain, the faucet and the key servers, whatever the URL's origin. */
  readonly fetch: typeof fetch;
  /** What key servers use of the chain; tests read objects with it. */
  readonly chain: ChainAccess;
  /** Binds 127.0.0.1; port 0, the default, is any free one. From then on `network()` names the URL. */
  listen(options?: { readonly port?: number }): Promise<{ readonly url: string }>;
  /** Opens another node, on a port of its own, that sees everything `lag` milliseconds later. It ends with the network. */
  openNode(options?: { readonly lag?: number }): Promise<LateNode>;
  network(): LocalNetworkConfiguration;
  /** Gives coins to an address: 10 SUI by default. `amount` is in MIST. */
  faucet(address: string, amount?: bigint): Promise<FaucetGift>;
  readonly faults: {
    readonly node: NodeFaults;
    /** Independent servers first (0, 1, 2), then the committee. */
    keyServer(index: number): KeyServerFaults;
  };
  /** How often a key server was asked; by the same index. */
  keyServerRequests(index: number): KeyServerRequests;
  /** Ephemeral keys of zkLogin expire by epochs. Returns the new one. */
  advanceEpoch(): number;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Where the in-process network is when nothing listens: a name that no resolver has (RFC 6761 §6.4). */
const IN_PROCESS_ORIGIN = "http://localnet.invalid";

/**
 * Opens the local network: FOR DEVELOPMENT AND TESTS ONLY, its coins and its keys are worth nothing. Everything that was
 * acknowledged is there again after a restart on the same directory.
 * @throws ChainInUseError when another process uses the directory.
 */
export async function openLocalnet(options: LocalnetOptions = {}): Promise<Localnet> {
  const clock = options.clock ?? Date.now;
  const random = options.random ?? ((size) => new Uint8Array(randomBytes(size)));
  const ledger = new Ledger({
    directory: options.directory ?? null,
    clock,
    random,
    validEpochs: options.validEpochs ?? 2,
  });
  try {
    const chain = accessTo(ledger, clock);
    const directory = options.directory === undefined ? {} : { directory: options.directory };
    const keyServers = await startKeyServers(chain, { ...directory, ...options.keyServers });
    await keyServers.announce(IN_PROCESS_ORIGIN);
    return new OpenLocalnet(ledger, chain, keyServers, { clock, autoFund: options.autoFund ?? true });
  } catch (error) {
    ledger.close();
    throw error;
  }
}

class OpenLocalnet implements Localnet {
  readonly fetch: typeof fetch;
  readonly chain: ChainAccess;
  readonly faults: Localnet["faults"];
  readonly faucet: Localnet["faucet"];
  readonly #ledger: Ledger;
  readonly #keyServers: KeyServers;
  readonly #node: NodeFaults & { readonly view: LedgerView };
  readonly #answer: (request: Request) => Promise<Response>;
  readonly #fund: (address: string) => Promise<void>;
  readonly #clock: () => number;
  readonly #lateNodes: HttpServer[] = [];
  #http: HttpServer | null = null;
  #isClosed = false;

  constructor(
    ledger: Ledger,
    chain: ChainAccess,
    keyServers: KeyServers,
    { clock, autoFund }: { readonly clock: () => number; readonly autoFund: boolean },
  ) {
    const faucet = openFaucet(ledger);
    this.#clock = clock;
    this.#ledger = ledger;
    this.#keyServers = keyServers;
    this.#node = nodeFaults(ledger);
    this.chain = chain;
    this.faucet = (address, amount) => faucet.give(address, amount);
    this.faults = { node: this.#node, keyServer: (index) => keyServers.faults(index) };
    const fund = autoFund ? (address: string) => faucet.giveIfPoor(address) : async () => {};
    this.#fund = fund;
    this.#answer = async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/key-servers/")) return keyServers.handle(request);
      await this.#misbehave(request.signal);
      if (pathname === "/v2/gas" && request.method === "POST") return faucet.answer(request);
      const answered = await answerRpc({ view: this.#node.view, ledger, fund }, request);
      return answered ?? new Response("This is Coffer's local network, for development only.\n", { status: 404 });
    };
    this.fetch = async (input, init) => {
      if (this.#isClosed) throw new TypeError("fetch failed");
      const request = new Request(input, init);
      request.signal.throwIfAborted();
      return Promise.race([this.#answer(request), whenAborted(request.signal)]);
    };
  }

  async listen({ port = 0 }: { readonly port?: number } = {}): Promise<{ readonly url: string }> {
    if (this.#http !== null) throw new Error(`the localnet listens already, at ${this.#http.url}`);
    this.#http = await listen(this.#answer, port);
    await this.#keyServers.announce(this.#http.url);
    return { url: this.#http.url };
  }

  async openNode({ lag = 0 }: { readonly lag?: number } = {}): Promise<LateNode> {
    const late = new LateView(this.#ledger, this.#clock, lag);
    const context = () => ({ view: late.view(), ledger: this.#ledger, fund: this.#fund });
    const http = await listen(
      async (request) => (await answerRpc(context(), request)) ?? new Response(null, { status: 404 }),
      0,
    );
    this.#lateNodes.push({
      url: http.url,
      close: () => {
        late.stop();
        return http.close();
      },
    });
    return Object.assign(late, { url: http.url });
  }

  network(): LocalNetworkConfiguration {
    return {
      network: "localnet",
      chainId: this.#ledger.chainId,
      grpcUrl: this.#http?.url ?? IN_PROCESS_ORIGIN,
      originalPackageId: PACKAGE_ID,
      latestPackageId: PACKAGE_ID,
      packageDigest: PACKAGE_DIGEST,
      keyServerSets: this.#keyServers.sets().map(({ threshold, servers }) => ({ threshold, servers: [...servers] })),
    };
  }

  keyServerRequests(index: number): KeyServerRequests {
    return this.#keyServers.requests(index);
  }

  advanceEpoch(): number {
    return this.#ledger.advanceEpoch();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const node of this.#lateNodes) await node.close();
    await this.#http?.close();
    await this.#keyServers.close();
    this.#ledger.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #misbehave(signal: AbortSignal): Promise<void> {
    if (this.#node.slow > 0) await sleep(this.#node.slow, undefined, { signal });
    if (this.#node.down) throw new TypeError("fetch failed");
  }
}

/** As over a network: who gives up does not wait for the answer. */
function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function nodeFaults(ledger: Ledger): NodeFaults & { readonly view: LedgerView } {
  let frozen: LedgerView | null = null;
  return {
    down: false,
    slow: 0,
    get stale() {
      return frozen !== null;
    },
    set stale(isStale: boolean) {
      frozen = isStale ? (frozen ?? ledger.freeze()) : null;
    },
    get view() {
      return frozen ?? ledger;
    },
  };
}
