/**
 * The client that tools get once text of others was shown. For every method of the SDK this table says where text goes that its
 * caller chose. A new method does not compile until it is judged here, and what tools have no use for is not there.
 */
import type { Client } from "@coffer/sdk";

/** Where chosen text goes. A call that names no vault where it has to is refused. */
export type Destination =
  /** Stored in a vault: all who read the vault read it. */
  | { readonly to: "vault"; readonly vaultId: string | undefined }
  /** Looked for in a vault: at most the service reads it. */
  | { readonly to: "lookup"; readonly vaultId: string | undefined }
  /** Read by the service alone, such as a vault's name. */
  | { readonly to: "service" }
  /** Somebody outside of the account gets something: a member, an agent, a receiver of events. */
  | { readonly to: "outside" };

/** Takes ids, numbers, times, cursors and words of the service's own. */
const FREE = () => [];
/** Not for tools. */
const ABSENT = null;

type Sends<Method> = Method extends (...args: infer Args) => unknown
  ? (...args: Args) => readonly Destination[]
  : never;
type Rules<Resource> = {
  readonly [Name in keyof Resource]: Resource[Name] extends (...args: never) => unknown
    ? Sends<Resource[Name]> | typeof ABSENT
    : Resource[Name] extends object
      ? Rules<Resource[Name]> | typeof ABSENT
      : typeof ABSENT;
};

const into = (vaultId: string | undefined): Destination[] => [{ to: "vault", vaultId }];
const service = (): Destination[] => [{ to: "service" }];
const outside = (): Destination[] => [{ to: "outside" }];
const renamed = (name: unknown, vaultId: string | undefined): Destination[] =>
  name === undefined ? [] : into(vaultId);

interface LookupQuery {
  readonly name?: string | undefined;
  readonly vaultId?: string | undefined;
}

/** A name in a list's query is a question to the service. */
const lookup = ({ name, vaultId }: LookupQuery = {}): Destination[] => {
  if (name === undefined) return [];
  return vaultId === undefined ? service() : [{ to: "lookup", vaultId }];
};

const RULES: Rules<Client> = {
  baseUrl: ABSENT,
  call: ABSENT,
  request: ABSENT,
  account: { get: FREE, update: ABSENT, linkChain: ABSENT },
  auth: ABSENT,
  sessions: ABSENT,
  identityProvider: ABSENT,
  apiKeys: { create: ABSENT, list: FREE, get: FREE, revoke: FREE, rotate: ABSENT },
  invites: { create: outside, list: FREE, revoke: FREE, redeem: ABSENT, checkAddressProof: ABSENT, readText: FREE },
  vaults: {
    create: service,
    list: FREE,
    get: FREE,
    update: ABSENT,
    delete: ABSENT,
    restore: ABSENT,
    members: { list: FREE, add: outside, setUntil: ABSENT, remove: FREE },
    checkAccess: FREE,
    readers: FREE,
    leave: ABSENT,
    setSigningKey: ABSENT,
    offerOwnership: ABSENT,
    acceptOwnership: ABSENT,
    trust: ABSENT,
    trustOwner: ABSENT,
    rotate: ABSENT,
    reseal: ABSENT,
    forgetSeen: ABSENT,
    export: ABSENT,
  },
  agents: { revoke: FREE, rewind: FREE },
  folders: {
    create: ({ vaultId }) => into(vaultId),
    list: lookup,
    get: FREE,
    update: (_id, { name }, options) => renamed(name, options?.vaultId),
    delete: FREE,
    restore: (_id, changes, options) => renamed(changes?.name, options?.vaultId),
    entries: FREE,
  },
  files: {
    list: lookup,
    search: ABSENT,
    get: FREE,
    upload: ({ vaultId }) => into(vaultId),
    uploadMany: (inputs) => [...inputs].flatMap(({ vaultId }) => into(vaultId)),
    replace: (_id, { vaultId }) => into(vaultId),
    download: FREE,
    versions: FREE,
    // Content and names that the readers of the vault had already.
    restoreVersion: FREE,
    deleteVersion: ABSENT,
    entries: FREE,
    update: (_id, { name }, options) => renamed(name, options?.vaultId),
    delete: FREE,
    restore: (_id, changes, options) => renamed(changes?.name, options?.vaultId),
    trashMany: FREE,
    restoreMany: FREE,
    moveMany: FREE,
    commit: ABSENT,
  },
  search: ({ q, type, vaultId } = {}) => lookup({ name: q ?? type, vaultId }),
  trash: ABSENT,
  billing: ABSENT,
  audit: { list: FREE, verify: FREE },
  webhooks: {
    list: FREE,
    create: outside,
    get: FREE,
    update: (_id, { url }) => (url === undefined ? [] : outside()),
    delete: FREE,
    test: FREE,
    rotateSecret: FREE,
    deliveries: FREE,
    delivery: FREE,
    redeliver: FREE,
    recover: ABSENT,
    eventKinds: FREE,
  },
  events: ABSENT,
  changes: { list: FREE, follow: ABSENT },
  development: ABSENT,
};

/**
 * `permit` resolves when it may be sent. Functions of the SDK that take a client do not take this one: they would go around
 * the gate.
 */
export function gatedClient(client: Client, permit: (destinations: readonly Destination[]) => Promise<void>): Client {
  const gated = (resource: object, rules: object): object =>
    Object.fromEntries(
      Object.entries(rules).flatMap(([name, rule]: [string, unknown]) => {
        const member: unknown = Reflect.get(resource, name);
        if (isMethod(rule) && isMethod(member))
          return [
            [
              name,
              (...args: unknown[]) => permittedCall(permit, rule(...args), () => Reflect.apply(member, resource, args)),
            ],
          ];
        return isObject(rule) && isObject(member) ? [[name, gated(member, rule)]] : [];
      }),
    );
  // What is absent from the table is absent here, and a call of it fails.
  return { baseUrl: client.baseUrl, ...gated(client, RULES) } as Client;
}

type Method = (...args: unknown[]) => unknown;

function isMethod(value: unknown): value is Method {
  return typeof value === "function";
}

function isObject(value: unknown): value is object {
  return value !== null && (typeof value === "object" || typeof value === "function");
}

/** A list is a promise that can be iterated, too: it stays one while it is held back. */
function permittedCall(
  permit: (of: readonly Destination[]) => Promise<void>,
  sends: unknown,
  run: () => unknown,
): unknown {
  const destinations = sends as readonly Destination[];
  if (destinations.length === 0) return run();
  const start = (): Promise<unknown> => permit(destinations).then(run);
  return {
    then: (...then: Parameters<Promise<unknown>["then"]>) => start().then(...then),
    catch: (...then: Parameters<Promise<unknown>["catch"]>) => start().catch(...then),
    async *[Symbol.asyncIterator]() {
      await permit(destinations);
      yield* run() as AsyncIterable<unknown>;
    },
  };
}
