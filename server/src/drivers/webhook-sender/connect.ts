/** Opens connections to receivers, and only to those that may be reached (OWASP API7:2023). */
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls, type SecureContext } from "node:tls";
import type { WebhookFailure } from "../../ports/webhook-sender.ts";
import type { IsAllowed } from "./addresses.ts";
import { connectFailureOf, SendFailure } from "./failures.ts";
import { openTunnel, type Proxy } from "./proxy.ts";
import type { ResolveAddresses } from "./resolve.ts";
import { knownAddresses, type Target } from "./target.ts";

export interface ConnectRules {
  readonly isAllowed: IsAllowed;
  readonly resolve: ResolveAddresses;
  /** Milliseconds for the name, the connection, the proxy's tunnel and TLS together. */
  readonly connectTimeout: number;
  readonly secureContext: SecureContext;
  /** null: directly. */
  readonly proxy: Proxy | null;
}

/**
 * A connection that is ready for a request, TLS included. Rejects with a `SendFailure` when there is none within the time, or
 * when `stopped` aborts; nothing stays open then.
 */
export async function openConnection(target: Target, rules: ConnectRules, stopped: AbortSignal): Promise<Socket> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const timer = setTimeout(end, rules.connectTimeout);
  stopped.addEventListener("abort", end, { once: true });
  const opened: Socket[] = [];
  try {
    if (stopped.aborted) end();
    const socket = await openStages(target, rules, { signal: ending.signal, opened });
    // undici would take a socket that is closed already for one that failed to open, and open another, for ever.
    if (socket.destroyed) throw new SendFailure("connection reset");
    return socket;
  } catch (error) {
    for (const socket of opened) socket.destroy();
    if (ending.signal.aborted) throw new SendFailure("timeout");
    throw error instanceof SendFailure ? error : new SendFailure("connection reset", { cause: error });
  } finally {
    clearTimeout(timer);
    stopped.removeEventListener("abort", end);
  }
}

interface Attempt {
  readonly signal: AbortSignal;
  /** Whatever happens to them, they are closed when the attempt fails. */
  readonly opened: Socket[];
}

async function openStages(target: Target, rules: ConnectRules, attempt: Attempt): Promise<Socket> {
  const { proxy } = rules;
  const plain = proxy === null ? await openGuarded(target, rules, attempt) : await openProxied(target, proxy, attempt);
  return target.secure ? await secure(plain, target.hostname, rules.secureContext, attempt) : plain;
}

/**
 * Three checks. First the literal host, because nobody asks a resolver about one. Then every address of the name: only
 * the allowed ones go to the system, so that no second look-up can change them (DNS rebinding). Last the end of the
 * connection, because the system has addresses that mean another (0.0.0.0 is this machine).
 */
async function openGuarded({ hostname, port }: Target, rules: ConnectRules, attempt: Attempt): Promise<Socket> {
  const known = knownAddresses(hostname) ?? (await untilAborted(rules.resolve(hostname), attempt.signal, "dns"));
  const allowed = known.filter(rules.isAllowed);
  const [first] = allowed;
  if (first === undefined) throw new SendFailure(known.length === 0 ? "dns" : "blocked address");
  const socket = await openTcp({ addresses: allowed, first, port }, attempt);
  if (!rules.isAllowed(socket.remoteAddress ?? "")) throw new SendFailure("blocked address");
  return socket;
}

/** The proxy resolves names and keeps its own rules; it is the operator's, so its own address is not checked. */
async function openProxied(target: Target, proxy: Proxy, attempt: Attempt): Promise<Socket> {
  try {
    const tcp = connectTcp({ host: proxy.hostname, port: proxy.port, autoSelectFamily: true, noDelay: true });
    const plain = await ready(tcp, "connect", attempt, connectFailureOf);
    const socket = proxy.secure ? await secure(plain, proxy.hostname, proxy.secureContext, attempt) : plain;
    return await openTunnel(socket, target, proxy, attempt.signal);
  } catch (error) {
    throw new SendFailure("proxy", { cause: error });
  }
}

/** Tries the addresses in turn, both families (RFC 8305), without asking anybody for the name again. */
function openTcp(
  { addresses, first, port }: { readonly addresses: readonly string[]; readonly first: string; readonly port: number },
  attempt: Attempt,
): Promise<Socket> {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_hostname, { all: wantsAll }, callback) =>
    wantsAll === true ? callback(null, all) : callback(null, first, isIP(first));
  const host = all.length === 1 ? first : "receiver.invalid";
  const socket = connectTcp({ host, port, lookup, autoSelectFamily: true, noDelay: true, keepAlive: true });
  return ready(socket, "connect", attempt, connectFailureOf);
}

/** `rejectUnauthorized` is said, because NODE_TLS_REJECT_UNAUTHORIZED would turn it off for the whole process. */
function secure(socket: Socket, hostname: string, context: SecureContext, attempt: Attempt): Promise<Socket> {
  const name = hostname.replace(/\.$/, "");
  const tls = connectTls({
    socket,
    host: name,
    // RFC 6066 §3: a name without its last dot, and no address.
    servername: isIP(name) === 0 ? name : "",
    secureContext: context,
    rejectUnauthorized: true,
    ALPNProtocols: ["http/1.1"],
  });
  return ready(tls, "secureConnect", attempt, () => "tls");
}

/** Waits for a socket's first `event`; an error is what `toFailure` makes of it. */
function ready(
  socket: Socket,
  event: "connect" | "secureConnect",
  { signal, opened }: Attempt,
  toFailure: (error: unknown) => WebhookFailure,
): Promise<Socket> {
  opened.push(socket);
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const fail = (error?: unknown): void => reject(new SendFailure(toFailure(error), { cause: error }));
  const stop = (): void => reject(new SendFailure("timeout"));
  socket.once(event, () => resolve(socket));
  // Stays: an error without a listener would end the process.
  socket.on("error", fail);
  socket.once("close", fail);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  return promise.finally(() => {
    socket.off("close", fail);
    signal.removeEventListener("abort", stop);
  });
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal, failure: WebhookFailure): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(new SendFailure("timeout"));
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, promise]);
  } catch (error) {
    throw error instanceof SendFailure ? error : new SendFailure(failure, { cause: error });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
