/** Seal's key servers over the local chain, served by the localnet's own HTTP server under `/key-servers/`. */
import type { ChainAccess, PutObject } from "../chain-access.ts";
import { aggregatorSource, type CommitteeMember } from "./committee.ts";
import { type ApiKeyHeader, Endpoint } from "./endpoint.ts";
import type { KeyServerFaults, KeyServerRequests } from "./faults.ts";
import { keyServerSource } from "./key-server.ts";
import { deriveMasterKey, publicKeyOf, shareMasterKey, type G2Point } from "./master-key.ts";
import { committeeObjects, independentObjects, keyServerObjectId } from "./objects.ts";
import { openSeed } from "./seed.ts";

export type { ChainAccess, ChainObject, ChainView, Simulation } from "../chain-access.ts";
export type { KeyServerFaults, KeyServerRequests, OtherAnswer } from "./faults.ts";

export interface KeyServerEntry {
  readonly objectId: string;
  readonly weight: number;
  /** Base64 of 96 bytes. */
  readonly publicKey: string;
  /** Only for a committee. */
  readonly aggregatorUrl?: string;
}

export interface KeyServerSet {
  readonly threshold: number;
  readonly servers: readonly KeyServerEntry[];
}

export interface KeyServerOptions {
  /** Number of independent servers in the first set (2 of 3 by default). */
  readonly independent?: { readonly threshold: number; readonly servers: number };
  /** Where the seed of the master keys is kept, beside the chain; without it the keys are new each time. */
  readonly directory?: string;
  /** The header that the committee's aggregator wants with each request; it refuses others with 401. */
  readonly aggregatorKey?: ApiKeyHeader;
}

export interface KeyServers {
  /** For the network configuration: the independent servers (for writing), then the committee. URLs follow `announce`. */
  sets(): readonly KeyServerSet[];
  /** Writes the key servers' URLs, `${origin}/key-servers/…`, into their objects. Called at the start and again when the server listens. */
  announce(origin: string): Promise<void>;
  /** Answers requests whose path begins with `/key-servers/`; throws TypeError("fetch failed") for a server that is down. */
  handle(request: Request): Promise<Response>;
  /** Independent servers first (0, 1, 2), then the committee's aggregator (3), then its members (4 to 8). */
  faults(index: number): KeyServerFaults;
  /** Counters by the same index; may be set back to zero. */
  requests(index: number): KeyServerRequests;
  close(): Promise<void>;
}

const PREFIX = "/key-servers/";
const COMMITTEE = { threshold: 3, members: 5 };
/** Indices of derivation: the independent servers count from 0, the committee's polynomial and the wrong keys from here. */
const COMMITTEE_KEYS = 1_000;
const WRONG_KEYS = 2_000;

/** @internal Puts the key servers' objects on the chain (the same at each start) and answers for them. */
export async function startKeyServers(chain: ChainAccess, options: KeyServerOptions): Promise<KeyServers> {
  const seed = await openSeed(options.directory);
  const { threshold, servers } = options.independent ?? { threshold: 2, servers: 3 };
  const independent = Array.from({ length: servers }, (_, index) => openIndependent(chain, seed, index));
  const committee = openCommittee(chain, seed, options.aggregatorKey);
  const endpoints = [...independent, committee, ...committee.members];
  const byPath = new Map(endpoints.map((server) => [server.path, server.endpoint]));
  let announced = "";

  const at = (index: number): Endpoint => {
    const server = endpoints[index];
    if (server === undefined) throw new RangeError(`there are key servers 0 to ${endpoints.length - 1}`);
    return server.endpoint;
  };
  return {
    sets: () => [
      { threshold, servers: independent.map(({ objectId, publicKey }) => entryOf(objectId, publicKey)) },
      {
        threshold: 1,
        servers: [{ ...entryOf(committee.objectId, committee.publicKey), aggregatorUrl: announced + committee.path }],
      },
    ],
    announce: async (origin) => {
      for (const object of [...independent, committee].flatMap((server) => server.objects(origin)))
        await chain.putObject(object);
      announced = origin;
    },
    handle: async (request) => {
      const path = new URL(request.url).pathname;
      const end = path.indexOf("/v1/");
      const endpoint = end < 0 ? undefined : byPath.get(path.slice(0, end));
      return endpoint === undefined
        ? new Response(null, { status: 404 })
        : await endpoint.handle(request, path.slice(end));
    },
    faults: (index) => at(index).faults,
    requests: (index) => at(index).requests,
    close: async () => {},
  };
}

interface OpenServer {
  readonly path: string;
  readonly endpoint: Endpoint;
  readonly publicKey: G2Point;
}

interface AnnouncedServer extends OpenServer {
  readonly objectId: string;
  objects(origin: string): PutObject[];
}

function openIndependent(chain: ChainAccess, seed: Uint8Array, index: number): AnnouncedServer {
  const masterKey = deriveMasterKey(seed, index);
  const publicKey = publicKeyOf(masterKey);
  const objectId = keyServerObjectId(publicKey.toBytes());
  const source = keyServerSource({ chain, objectId, masterKey, wrongMasterKey: deriveMasterKey(seed, WRONG_KEYS) });
  const path = `${PREFIX}${index}`;
  // Both layouts are in use on real networks, so both are here.
  const layout = index === 1 ? 1 : 2;
  const described = { objectId, name: `localnet ${index}`, publicKey: publicKey.toBytes(), layout } as const;
  return {
    path,
    endpoint: new Endpoint(chain, source),
    publicKey,
    objectId,
    objects: (origin) => independentObjects({ ...described, url: origin + path }),
  };
}

function openCommittee(
  chain: ChainAccess,
  seed: Uint8Array,
  aggregatorKey: ApiKeyHeader | undefined,
): AnnouncedServer & { members: OpenServer[] } {
  const coefficients = Array.from({ length: COMMITTEE.threshold }, (_, i) => deriveMasterKey(seed, COMMITTEE_KEYS + i));
  const publicKey = publicKeyOf(deriveMasterKey(seed, COMMITTEE_KEYS));
  const objectId = keyServerObjectId(publicKey.toBytes());
  const path = `${PREFIX}committee`;
  const members = shareMasterKey(coefficients, COMMITTEE.members).map(
    ({ party, key }): CommitteeMember & OpenServer => {
      const wrongMasterKey = deriveMasterKey(seed, WRONG_KEYS);
      const source = keyServerSource({ chain, objectId: null, masterKey: key, wrongMasterKey });
      return { party, path: `${path}-${party}`, endpoint: new Endpoint(chain, source), publicKey: publicKeyOf(key) };
    },
  );
  const described = { objectId, name: "localnet committee", publicKey: publicKey.toBytes() };
  const memberObjects = (origin: string): Parameters<typeof committeeObjects>[0]["members"] =>
    members.map(({ party, path: at, publicKey: partial }) => ({
      name: `localnet member ${party}`,
      url: origin + at,
      publicKey: partial.toBytes(),
      party,
    }));
  return {
    path,
    endpoint: new Endpoint(chain, aggregatorSource({ threshold: COMMITTEE.threshold, members }), aggregatorKey),
    publicKey,
    objectId,
    members,
    objects: (origin) =>
      committeeObjects({ ...described, threshold: COMMITTEE.threshold, members: memberObjects(origin) }),
  };
}

function entryOf(objectId: string, publicKey: G2Point): KeyServerEntry {
  return { objectId, weight: 1, publicKey: Buffer.from(publicKey.toBytes()).toString("base64") };
}
