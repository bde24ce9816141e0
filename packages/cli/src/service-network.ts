/** Which network a sign-up or sign-in keeps for shared vaults: a file that is named, or the service's own if somebody proves it. */
import type { NetworkFile } from "@coffer/sdk/node";
import { acceptServedNetwork, type NetworkAcceptance, type NetworkProof } from "@coffer/tasks";
import type { Context } from "./context.ts";
import { text } from "./declarations.ts";
import { usage } from "./failure.ts";
import { networkFileAt, type ReachableProfile } from "./profile-credentials.ts";
import { APPLICATION } from "./version.ts";

export const NETWORK_FLAGS = {
  networkFile: text("File of the operator that names chain and key servers; shared vaults need it", {
    placeholder: "FILE",
  }),
  networkDigest: text("SHA-256 of that file, as the operator's page shows it; the service then gives the file", {
    placeholder: "HEX",
  }),
};

export interface NetworkFlags {
  readonly networkFile: string | undefined;
  readonly networkDigest: string | undefined;
}

export type ServiceNetwork =
  | Exclude<NetworkAcceptance, { readonly kind: "adopted" }>
  | ({ readonly kind: "known"; readonly path: string } & NetworkFile);

/**
 * The network of this sign-in. What is wrong with it shows now, before an access code or an invite is spent. One that the profile or the
 * environment names stays: the service is not asked then.
 */
export async function findNetwork(
  context: Context,
  selected: ReachableProfile,
  { networkFile, networkDigest }: NetworkFlags,
): Promise<ServiceNetwork> {
  const { readNetworkFile } = await import("@coffer/sdk/node");
  const digest = parseDigest(networkDigest);
  const namedFile = networkFile === undefined ? undefined : networkFileAt(context, networkFile);
  const path = namedFile ?? configuredFile(context, selected);
  if (path !== undefined) {
    const file = await readNetworkFile(path);
    if (digest !== null && digest.toLowerCase() !== file.digest)
      throw usage(
        `The network file here, ${path}, has another SHA-256, and the service does not replace it`,
        "coffer config set network-file FILE, with a file that you have compared",
      );
    return { kind: "known", path, ...file };
  }
  const { baseUrl, configFile } = selected;
  const request = { baseUrl, configFile, application: APPLICATION, signal: context.signal };
  const acceptance = await acceptServedNetwork(request, { invited: null, digest, ask: digestPrompt(context) });
  return acceptance.kind === "adopted" ? { ...acceptance, kind: "known" } : acceptance;
}

/** The one of the environment or the profile, with its whole path. */
export function configuredFile(context: Context, { stored }: ReachableProfile): string | undefined {
  const fromEnvironment = context.world.env["SERVICE_NETWORK_FILE"] ?? "";
  return fromEnvironment === "" ? (stored?.networkFile ?? undefined) : networkFileAt(context, fromEnvironment);
}

export function parseDigest(text: string | undefined): string | null {
  if (text === undefined || /^[0-9a-f]{64}$/i.test(text)) return text ?? null;
  throw usage(
    "--network-digest takes 64 hex digits: SHA-256 of the network's file",
    "copy it from the page of the service's operator",
  );
}

/** Asks a person at a terminal. `--yes` agrees to nothing here: it has compared nothing. */
export function digestPrompt({ world, globals, ask }: Context): NetworkProof["ask"] {
  if (!world.stdin.isTerminal || !world.stderr.isTerminal || globals.noInput || globals.yes) return null;
  return async () => {
    await world.stderr.write(
      "Shared vaults need the service's network file, which names the key servers. Compare it with the page of its operator,\n" +
        "and with nothing that the service itself shows: type the first eight characters of the SHA-256 there.\n" +
        "Enter alone goes on without shared vaults.\n",
    );
    return await ask("SHA-256 of the network file", "");
  };
}
