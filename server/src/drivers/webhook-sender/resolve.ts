/** Asks the name servers for a receiver's addresses. */
import { Resolver } from "node:dns/promises";

/** Rejects, or answers with none, when the name has no address. */
export type ResolveAddresses = (hostname: string) => Promise<readonly string[]>;

/** Milliseconds, and how often a server is asked; together within the time for a connection. */
const PATIENCE = { timeout: 1_000, tries: 3, maxTimeout: 1_500 };

/**
 * Asks DNS alone, for the name as it stands: no hosts file and no search domains, which would make a name mean something inside
 * this network. And not `getaddrinfo`, which occupies one of libuv's few threads until a silent name server is given up: one
 * account's dead names would hold up the files of all others.
 */
export function dnsResolver(): ResolveAddresses {
  const resolver = new Resolver(PATIENCE);
  return async (hostname) => {
    const [six, four] = await Promise.allSettled([resolver.resolve6(hostname), resolver.resolve4(hostname)]);
    if (six.status === "rejected" && four.status === "rejected") throw four.reason;
    return [six, four].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  };
}
