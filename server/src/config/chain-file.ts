/**
 * The network file of shared vaults, which clients get as it is. The settings of the chain take their values from it, so that what the
 * server reads and what its users are told cannot differ.
 */
import { readFileSync } from "node:fs";
import { CHAIN_NETWORKS } from "@coffer/contract";
import * as z from "zod/mini";
import type { Environment } from "./values.ts";
import { VARIABLES } from "./variables.ts";

/** More than the largest set of key servers takes. Clients read no more, either. */
const MOST_BYTES = 256 * 1024;

/** What the server needs of it; clients check every field. */
const chainFile = z.looseObject({
  network: z.enum(CHAIN_NETWORKS),
  chainId: z.string().check(z.minLength(1)),
  grpcUrl: z.string().check(z.minLength(1)),
  originalPackageId: z.string().check(z.minLength(1)),
  keyServerSets: z
    .array(z.looseObject({ servers: z.array(z.looseObject({ apiKey: z.optional(z.unknown()) })) }))
    .check(z.minLength(1)),
});

export interface ChainFile {
  /** As it is on the disk; null: none is named, or it cannot be used. */
  readonly bytes: Uint8Array | null;
  /** The settings that the environment leaves to it. */
  readonly settings: Environment;
  readonly problems: readonly string[];
}

const { chainFile: FILE, network: NETWORK, chainUrl: URL_OF_NODE, chainPackage: PACKAGE, chainId: ID } = VARIABLES;

/** A node of the operator's own may take the place of the one that the file names. All else has to be the same. */
export function readChainFile(environment: Environment): ChainFile {
  const path = environment[FILE.name]?.trim() ?? "";
  if (path === "") return { bytes: null, settings: {}, problems: [] };
  const read = readWhole(path);
  if (typeof read === "string") return { bytes: null, settings: {}, problems: [`${FILE.name}: ${read}`] };
  const { bytes, facts } = read;
  const named = [
    [NETWORK.name, facts.network],
    [PACKAGE.name, facts.originalPackageId],
    [ID.name, facts.chainId],
    [URL_OF_NODE.name, facts.grpcUrl],
  ] as const;
  const isSet = (name: string): boolean => (environment[name]?.trim() ?? "") !== "";
  const problems = named.flatMap(([name, value]) =>
    isSet(name) && name !== URL_OF_NODE.name && environment[name]?.trim() !== value
      ? [`${name}: ${FILE.name} names ${value}; leave it out`]
      : [],
  );
  const left = named.filter(([name]) => !isSet(name));
  return { bytes, settings: Object.fromEntries(left), problems };
}

/** A sentence about what is wrong: no part of the file is in it. */
function readWhole(path: string): string | { bytes: Uint8Array; facts: z.infer<typeof chainFile> } {
  let bytes: Uint8Array;
  let value: unknown;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    return `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (bytes.length > MOST_BYTES) return `${path} is larger than ${String(MOST_BYTES)} bytes`;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return `${path} is not JSON`;
  }
  const { success, data, error } = z.safeParse(chainFile, value);
  if (!success) {
    const fields = error.issues.map(({ path: at }) => at.join(".")).join(", ");
    return `${path} is not as npm run chain:publish writes it: see ${fields}`;
  }
  const hasKey = data.keyServerSets.some(({ servers }) => servers.some(({ apiKey }) => apiKey !== undefined));
  if (hasKey)
    return `${path} has an API key of a key server, and anybody could read it at /api/network; take apiKey out, and hand it to your users yourself`;
  return { bytes, facts: data };
}
