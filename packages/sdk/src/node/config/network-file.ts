/** The network's file on this machine, and the one that a service names. */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemGroup } from "@coffer/contract";
import type { NetworkConfiguration } from "@coffer/chain";
import { safeParse } from "zod/mini";
import type { Client } from "../../client.ts";
import { configurationError, SdkError } from "../../http/errors.ts";
import { requireChain } from "../../connection/load-code.ts";
import type { CallOptions } from "../../connection/options.ts";
import { configFile } from "./config-place.ts";
import { makePrivateDirectory, replaceFile } from "../store/durable-file.ts";

/** A network, and the file that it is in. */
export interface NetworkFile {
  /** May hold API keys of key servers: do not log it. */
  readonly network: NetworkConfiguration;
  /** SHA-256 of the file's bytes: 64 lower-case hex digits. */
  readonly digest: string;
}

/**
 * Reads and checks a network's file.
 * @throws SdkError `configuration` when it cannot be used. The error shows no part of the file, which may hold API keys of key servers.
 */
export async function readNetworkFile(path: string): Promise<NetworkFile> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch {
    throw configurationError(`The network configuration ${path} cannot be read as JSON`);
  }
  return { network: await parseNetwork(bytes, path), digest: digestOf(bytes) };
}

/** A network's file as a service gives it. It says nothing about whether the service is honest. */
export interface ServedNetwork {
  /** The file, byte for byte: JSON, at most 256 KiB. */
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes: 64 lower-case hex digits. Compare it with one that did not come from the service. */
  readonly digest: string;
}

/**
 * Asks the service for its network's file; null when it names none. Sends no credential. Use {@link saveServedNetwork} to take the file over:
 * whoever names the key servers can have the keys of new vaults.
 */
export async function readServedNetwork(client: Client, options?: CallOptions): Promise<ServedNetwork | null> {
  try {
    const { body } = await client.call(systemGroup.network, {}, options);
    const bytes = await readAtMost(body, MOST_BYTES);
    return { bytes, digest: digestOf(bytes) };
  } catch (error) {
    if (error instanceof SdkError && error.code === "not_found") return null;
    throw error;
  }
}

/**
 * Saves the file that the service names beside the configuration (mode 0600), if it has this digest. Resolves with its path, which is what
 * `networkFile` of a profile takes. A file that was saved before stays as it is, and so does every profile.
 * @param digest 64 hex digits that came another way than from the service: in an invite, or from its operator.
 * @throws SdkError `configuration` for another digest, and for a file that is no network.
 *
 * @example
 * ```ts
 * import { createClient } from "@coffer/sdk";
 * import { readServedNetwork, saveServedNetwork } from "@coffer/sdk/node";
 *
 * const client = createClient({ baseUrl: "https://files.example.com" });
 * const [digest = ""] = process.argv.slice(2); // from the operator's page
 * const served = await readServedNetwork(client);
 * if (served !== null) console.log((await saveServedNetwork(served, digest)).path);
 * ```
 */
export async function saveServedNetwork(
  served: ServedNetwork,
  digest: string,
  configuration: string = configFile(),
): Promise<NetworkFile & { readonly path: string }> {
  // Of the bytes, whatever the caller says of them.
  const servedDigest = digestOf(served.bytes);
  if (servedDigest !== digest.toLowerCase())
    throw configurationError("The network's file that the service names is not the one of the digest");
  const network = await parseNetwork(served.bytes, "that the service names");
  const directory = join(dirname(configuration), "networks");
  const path = join(directory, `${servedDigest}.json`);
  await makePrivateDirectory(directory);
  // What is there is the user's own by now, perhaps with witnesses and API keys.
  if (await exists(path)) return { path, ...(await readNetworkFile(path)) };
  await replaceFile(path, served.bytes);
  return { path, network, digest: servedDigest };
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

/** As much as a server gives. */
const MOST_BYTES = 256 * 1024;

async function readAtMost(body: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > most) throw configurationError("The network's file that the service names is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function parseNetwork(bytes: Uint8Array, path: string): Promise<NetworkConfiguration> {
  const { networkConfiguration } = await requireChain(import("@coffer/chain"));
  let value: unknown;
  try {
    // Some editors and shells begin each text with a byte order mark, which the decoder passes over (RFC 8259 §8.1).
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw configurationError(`The network configuration ${path} cannot be read as JSON`);
  }
  const result = safeParse(networkConfiguration, value);
  if (result.success) return result.data;
  const fields = result.error.issues.map(({ path: at }) => at.join(".")).join(", ");
  throw configurationError(`The network configuration ${path} is not valid: see ${fields}`);
}
