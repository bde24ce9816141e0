/** Turns an invite into a profile of the settings file: the API key and a chain key of its own. */
import type { Secret } from "@coffer/sdk";
import { TaskFailure } from "./failure.ts";

export interface Joining {
  /** The invite's text. */
  readonly code: string;
  readonly baseUrl: string;
  readonly configFile: string;
  readonly profile: string;
  readonly networkFile: string | null;
  /** The environment, for the file of pins. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A chain key that the user has already; null: a new one. */
  readonly chainPrivateKey: Secret | null;
}

export interface Joined {
  readonly chainAddress: string;
  readonly profile: string;
  readonly configFile: string;
  readonly vaultIds: readonly string[];
  /** When the access ends, as the invite's maker decided; null: it has no end. */
  readonly accessUntil: string | null;
}

/** The line that the owner runs where the invite was made. The vaults, the end and the rights are those that were decided there. */
export const lettingIn = (chainAddress: string): string => `coffer agents list --approve ${chainAddress}`;

/**
 * Redeems the invite and saves both keys (mode 0600). The chain key is saved before the invite is used. So a run that is
 * cut off loses no key.
 * @throws TaskFailure `name_exists` when the profile has an API key already; SdkError of the service.
 */
export async function joinByInvite(joining: Joining): Promise<Joined> {
  const { code, baseUrl, configFile, profile, networkFile } = joining;
  const { chainKeySigner, createClient, generateChainKey, Secret } = await import("@coffer/sdk");
  const { filePins, pinFile, readConfig, writeConfig } = await import("@coffer/sdk/node");
  const former = (await readConfig(configFile))?.profiles[profile] ?? null;
  if (former !== null && former.apiKey !== null)
    throw new TaskFailure("name_exists", {
      message: `The profile ${profile} of ${configFile} has a key already`,
      nextStep: "Name another profile with --profile, or another file with --config.",
    });
  const chainPrivateKey = joining.chainPrivateKey ?? former?.chainPrivateKey ?? (await generateChainKey()).privateKey;
  const signer = await chainKeySigner(chainPrivateKey);
  const kept = { baseUrl, chainPrivateKey, ...(networkFile === null ? {} : { networkFile }) };
  const isFirst = (await readConfig(configFile)) === null;
  const save = (apiKey: Secret | null): Promise<void> =>
    writeConfig(
      { ...(isFirst ? { defaultProfile: profile } : {}), profiles: { [profile]: { ...kept, apiKey } } },
      configFile,
    );
  await save(null);
  // Once more, beside the file that is there now: so there is room for the key, and the invite is good for one use only.
  await save(null);
  // The pins of the invite's vaults: what a lying service shows later does not replace them.
  const pins = filePins(pinFile(joining.env));
  const { invites } = createClient({ baseUrl });
  const { key, vaultIds, expiresAt } = await invites.redeem(code.trim(), signer, { pins });
  await save(new Secret(key));
  const { accessUntil } = await invites.readText(code);
  return {
    chainAddress: signer.chainAddress,
    profile,
    configFile,
    vaultIds: vaultIds ?? [],
    // A code alone tells of no end.
    accessUntil: accessUntil ?? expiresAt,
  };
}
