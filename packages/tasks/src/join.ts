/** Turns an invite into a profile of the settings file: the API key and a chain key of its own. */
import type { Secret, Told } from "@coffer/sdk";
import type { NetworkFile } from "@coffer/sdk/node";
import { TaskFailure } from "./failure.ts";
import { acceptServedNetwork, type NetworkProof } from "./served-network.ts";

export interface JoinOptions {
  /** The invite's text. */
  readonly code: string;
  readonly baseUrl: string;
  readonly configFile: string;
  readonly profile: string;
  /** null: that of the profile, else the one that the service names, if the invite or `proof` proves it. */
  readonly networkFile: string | null;
  /** What proves the service's network beside the invite. See {@link NetworkProof}. */
  readonly proof: Pick<NetworkProof, "digest" | "ask">;
  readonly signal?: AbortSignal | undefined;
  /** The environment, for the place of the profile store. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A chain key that the user has already; null: a new one. */
  readonly chainPrivateKey: Secret | null;
}

export interface JoinResult {
  readonly chainAddress: string;
  readonly profile: string;
  readonly configFile: string;
  readonly vaultIds: readonly string[];
  /** Where the network of shared vaults is; null: none is known here yet. */
  readonly networkFile: string | null;
  /** When the access ends, as the invite's maker decided; null: it has no end. */
  readonly accessUntil: string | null;
}

/** The line that the owner runs where the invite was made. The vaults, the end and the rights are those that were decided there. */
export const approveCommand = (chainAddress: string): string => `coffer agents list --approve ${chainAddress}`;

/**
 * Redeems the invite and saves both keys (mode 0600). The chain key is saved before the invite is used. So a run that is
 * cut off loses no key. What is wrong with the network shows before, too.
 * @throws TaskFailure `name_exists` when the profile has an API key already; `network_changed` when the network is not the invite's;
 * SdkError of the service.
 */
export async function joinByInvite(options: JoinOptions): Promise<JoinResult> {
  const { code, baseUrl, configFile, profile } = options;
  const { chainKeySigner, createClient, generateChainKey, Secret } = await import("@coffer/sdk");
  const { pinStore } = await import("@coffer/sdk/shared");
  const { fileStore, readConfig, storeDirectory, writeConfig } = await import("@coffer/sdk/node");
  const stored = (await readConfig(configFile))?.profiles[profile] ?? null;
  if (stored !== null && stored.apiKey !== null)
    throw new TaskFailure("name_exists", {
      message: `The profile ${profile} of ${configFile} has a key already`,
      nextStep: "Name another profile with --profile, or another file with --config.",
    });
  const invite = await createClient({ baseUrl }).invites.readText(code);
  const network = await findNetwork(options, stored?.networkFile ?? null, invite);
  const chainPrivateKey = options.chainPrivateKey ?? stored?.chainPrivateKey ?? (await generateChainKey()).privateKey;
  const signer = await chainKeySigner(chainPrivateKey);
  const saved = { baseUrl, chainPrivateKey, ...(network === null ? {} : { networkFile: network.path }) };
  const isFirst = (await readConfig(configFile)) === null;
  const save = (apiKey: Secret | null): Promise<void> =>
    writeConfig(
      { ...(isFirst ? { defaultProfile: profile } : {}), profiles: { [profile]: { ...saved, apiKey } } },
      configFile,
    );
  await save(null);
  // Once more, beside the file that is there now: so there is room for the key, and the invite is good for one use only.
  await save(null);
  // The pins of the invite's vaults: what a lying service shows later does not replace them.
  const pins = pinStore(fileStore(storeDirectory(options.env)));
  const { invites } = createClient({ baseUrl, ...(network === null ? {} : { network: network.network.network }) });
  const { key, vaultIds, expiresAt } = await invites.redeem(code.trim(), signer, { pins });
  await save(new Secret(key));
  return {
    chainAddress: signer.chainAddress,
    profile,
    configFile,
    vaultIds: vaultIds ?? [],
    networkFile: network?.path ?? null,
    // A code alone tells of no end.
    accessUntil: invite.accessUntil ?? expiresAt,
  };
}

type LocatedNetwork = NetworkFile & { readonly path: string };

/** The file that was named or is there already, else the service's own, if its digest is the invite's. null: none. */
async function findNetwork(
  { networkFile, proof, baseUrl, configFile, signal }: JoinOptions,
  storedFile: string | null,
  { vaults }: Told,
): Promise<LocatedNetwork | null> {
  const own = networkFile ?? storedFile;
  const located = own === null ? await acceptServed() : { path: own, ...(await readOwn(own)) };
  if (located !== null && vaults !== null && located.network.chainId !== vaults.chainId)
    throw new TaskFailure("network_changed", {
      message: `The invite is for vaults on chain ${vaults.chainId}, and the network's file names chain ${located.network.chainId}`,
      nextStep: "Ask who made the invite for their network file. The invite is not used yet.",
    });
  return located;

  async function readOwn(path: string): Promise<NetworkFile> {
    return await (await import("@coffer/sdk/node")).readNetworkFile(path);
  }

  async function acceptServed(): Promise<LocatedNetwork | null> {
    // Without shared vaults nobody needs it, and a person is not to be asked.
    if (vaults === null && proof.digest === null) return null;
    const invited = vaults?.networkDigest ?? null;
    const adoption = await acceptServedNetwork({ baseUrl, configFile, signal }, { invited: invited, ...proof });
    return adoption.kind === "adopted" ? adoption : null;
  }
}
