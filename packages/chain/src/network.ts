/**
 * Which chain, which package, which key servers: local configuration that is never taken from the service (encryption design §2, pins).
 */
import * as z from "zod/mini";

const objectId = z.string().check(z.regex(/^0x[0-9a-f]{64}$/, "Expected 0x and 64 lower-case hex digits"));

/** Loopback may do without TLS: the local chain runs there. */
const nodeUrl = z.string().check(
  z.url({ protocol: /^https?$/ }),
  z.refine((text) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    return url?.protocol === "https:" || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? "");
  }, "Expected an https:// address"),
);

const keyServer = z.strictObject({
  /** The key server's object on the chain. */
  objectId,
  /** Shares it holds. */
  weight: z.int().check(z.minimum(1), z.maximum(254)),
  /** Its BLS12-381 G2 key, 96 bytes in base64; its object must name this key. */
  publicKey: z.string().check(z.regex(/^[A-Za-z0-9+/]{128}$/, "Expected 96 bytes in base64")),
  /** A committee is asked at its aggregator; an independent server at the address in its object. */
  aggregatorUrl: z.optional(nodeUrl),
  /** The header that carries the API key, for servers that want one. */
  apiKeyName: z.optional(z.string().check(z.regex(/^[A-Za-z0-9-]{1,64}$/))),
  apiKey: z.optional(z.string().check(z.minLength(1), z.maxLength(512))),
});

const keyServerSet = z
  .strictObject({
    /** How many shares open a key. */
    threshold: z.int().check(z.minimum(1), z.maximum(254)),
    servers: z.array(keyServer).check(z.minLength(1), z.maxLength(20)),
  })
  .check(
    z.refine(
      ({ threshold, servers }) => threshold <= servers.reduce((sum, { weight }) => sum + weight, 0),
      "The threshold is more than the servers hold together",
    ),
    z.refine(
      ({ servers }) => new Set(servers.map((server) => server.objectId)).size === servers.length,
      "A key server is named twice",
    ),
  );

/** Other operators' nodes are few, and each is asked at every read. */
const MOST_WITNESSES = 4;

export const networkConfiguration = z
  .strictObject({
    network: z.enum(["localnet", "testnet", "mainnet"]),
    /** Base58 digest of the chain's genesis checkpoint. */
    chainId: z.string().check(z.regex(/^[1-9A-HJ-NP-Za-km-z]{32,64}$/, "Expected a digest in base58")),
    grpcUrl: nodeUrl,
    /**
     * Further full nodes, of other operators: the client believes `grpcUrl` about a vault when each of them shows the
     * same. One that does not answer stops reading. The client asks them nothing else.
     */
    witnessUrls: z.optional(z.array(nodeUrl).check(z.maxLength(MOST_WITNESSES))),
    /** The namespace of keys and types: the id under which the package was first published. */
    originalPackageId: objectId,
    /** The package to call; the same, because the package is immutable. */
    latestPackageId: objectId,
    /** BLAKE2b-256 over the package's modules, lower-case hex: `PACKAGE_DIGEST` of the package this program was built with. */
    packageDigest: z.string().check(z.regex(/^[0-9a-f]{64}$/, "Expected 64 hex digits")),
    /** The first is used for writing; the others are accepted for reading. */
    keyServerSets: z.array(keyServerSet).check(z.minLength(1), z.maxLength(10)),
  })
  .check(
    z.refine(
      ({ grpcUrl, witnessUrls = [] }) => areDistinct([grpcUrl, ...witnessUrls]),
      "A witness is named twice, or is the chain node itself",
    ),
  );

/** By host and port: a path is a way to one operator's node, not another node. */
function areDistinct(urls: readonly string[]): boolean {
  const hosts = urls.map((url) => (URL.canParse(url) ? new URL(url).host : url));
  return new Set(hosts).size === urls.length;
}

/** Every field as it was parsed, and read only. */
type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

/** A network as configured. `apiKey` is a credential: do not log the configuration. */
export interface NetworkConfiguration extends Frozen<z.infer<typeof networkConfiguration>> {}
export type KeyServerSet = NetworkConfiguration["keyServerSets"][number];
export type KeyServer = KeyServerSet["servers"][number];

/**
 * Parses a configuration from a file.
 * @throws Error (zod's) that names the wrong fields.
 */
export function parseNetworkConfiguration(value: unknown): NetworkConfiguration {
  return z.parse(networkConfiguration, value);
}
