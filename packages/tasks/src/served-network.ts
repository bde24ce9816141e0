/**
 * The network's file that a service names, for whoever has none. Who names the key servers can have the keys of new vaults, so nothing that
 * the service says makes the file good: only a digest of it that came another way does.
 */
import type { NetworkFile, ServedNetwork } from "@coffer/sdk/node";
import { TaskFailure } from "./failure.ts";

/** How the operator's digest can be known here. */
export interface NetworkProof {
  /** The whole digest in an invite: 64 hex digits. null: none came. */
  readonly invited: string | null;
  /** The whole digest in the caller's own line, who then wants the file. null: none is. */
  readonly digest: string | null;
  /** Asks a person for the first characters of the digest on the operator's page. null: nobody can be asked. An empty answer: not now. */
  readonly ask: (() => Promise<string>) | null;
}

export type NetworkAcceptance =
  /** The service names none. */
  | { readonly kind: "none" }
  /** It names one, and nobody has said that it is the operator's. Nothing was kept. */
  | { readonly kind: "unproven" }
  | ({ readonly kind: "adopted"; readonly path: string } & NetworkFile);

export interface NetworkRequest {
  readonly baseUrl: string;
  /** `name/version`, sent to the service. */
  readonly application?: string | undefined;
  /** The file is kept beside it. */
  readonly configFile: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Keeps the file that the service names, if it is proven. Call it only where no file is configured.
 * @throws TaskFailure `network_changed` for a file of another digest: nothing was kept. `not_configured` where the service names none, and
 * the caller's own line wants it.
 */
export async function acceptServedNetwork(request: NetworkRequest, proof: NetworkProof): Promise<NetworkAcceptance> {
  const { createClient } = await import("@coffer/sdk");
  const { readServedNetwork, saveServedNetwork } = await import("@coffer/sdk/node");
  const { baseUrl, application, configFile, signal } = request;
  const served = await readServedNetwork(createClient({ baseUrl, application }), { signal });
  if (served === null && proof.digest === null) return { kind: "none" };
  if (served === null)
    throw new TaskFailure("not_configured", {
      message: "The service names no network, which shared vaults need",
      nextStep: "Ask its operator for the network's file, and pass it with --network-file.",
    });
  if (!(await isProven(served, proof))) return { kind: "unproven" };
  return { kind: "adopted", ...(await saveServedNetwork(served, served.digest, configFile)) };
}

/** So many characters a person compares. */
const FEWEST_TYPED = 8;

async function isProven(served: ServedNetwork, { invited, digest, ask }: NetworkProof): Promise<boolean> {
  const digests = [invited, digest].filter((each) => each !== null);
  if (digests.length > 0) {
    if (digests.some((each) => each.toLowerCase() === served.digest)) return true;
    throw otherNetwork("its SHA-256 digest is not the one that you were given");
  }
  const typed = (await ask?.())?.trim().toLowerCase() ?? "";
  if (typed === "") return false;
  if (typed.length >= FEWEST_TYPED && served.digest.startsWith(typed)) return true;
  throw otherNetwork("what was typed is not the beginning of its SHA-256 digest");
}

/** The digest of the served file is not shown: it would be typed from there. */
function otherNetwork(why: string): TaskFailure {
  return new TaskFailure("network_changed", {
    message: `The network's file that the service names was not used: ${why}`,
    nextStep:
      "Get the file from whoever gave you the digest, and pass it with --network-file. Do not use the one of the service.",
  });
}
