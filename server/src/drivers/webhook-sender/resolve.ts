/** Asks the name servers for a receiver's addresses. */
import { Resolver } from "node:dns/promises";
import { setTimeout as wait } from "node:timers/promises";

/** Rejects, or answers with none, when the name has no address. */
export type ResolveAddresses = (hostname: string) => Promise<readonly string[]>;

/** Milliseconds, and how often a server is asked; together within the time for a connection. */
const PATIENCE = { timeout: 1_000, tries: 3, maxTimeout: 1_500 };
/** Milliseconds that one family is waited for when the other is there: RFC 8305 §3, "Resolution Delay". */
const SECOND_FAMILY = 50;

/**
 * Asks DNS alone, for the exact name: no hosts file and no search domains, which would make a name mean something
 * inside this network. It does not use `getaddrinfo`, which occupies one of libuv's few threads until a silent name
 * server is given up. One account's dead names would block the files of all others. `servers` instead of the system's,
 * in tests.
 */
export function dnsResolver(servers?: readonly string[]): ResolveAddresses {
  const resolver = new Resolver(PATIENCE);
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    const found: string[] = [];
    const add = (addresses: readonly string[]): void => void found.push(...addresses);
    const asking = [resolver.resolve6(hostname).then(add), resolver.resolve4(hostname).then(add)];
    await Promise.any(asking);
    // A name server that is silent about one family must not use up the time for the connection.
    await Promise.race([Promise.allSettled(asking), wait(SECOND_FAMILY)]);
    return [...found];
  };
}
