/** The chain key of this machine. It is saved, used and never shown. */
import type { AccountWithCredential, Secret, Signer } from "@coffer/sdk";
import type { Profile } from "@coffer/sdk/node";
import { saveProfile } from "@coffer/tasks";
import type { Context } from "./context.ts";
import { CommandFailure } from "./failure.ts";
import { selectedProfile, reachableProfile, type ReachableProfile } from "./profile-credentials.ts";

export interface OwnChainKey {
  readonly privateKey: Secret;
  readonly signer: Signer;
  readonly source: "environment" | "profile" | "keychain";
}

/** null: there is none. */
export async function findChainKey(context: Context): Promise<OwnChainKey | null> {
  const { Secret, chainKeySigner } = await import("@coffer/sdk");
  const fromEnvironment = context.world.env["SERVICE_CHAIN_PRIVATE_KEY"] ?? "";
  const former = fromEnvironment === "" ? (await selectedProfile(context)).stored : null;
  const privateKey = fromEnvironment === "" ? former?.chainPrivateKey : new Secret(fromEnvironment);
  if (privateKey == null) return null;
  context.redaction.register(privateKey.reveal());
  const source = former === null ? "environment" : former.keyStore === "keychain" ? "keychain" : "profile";
  return { privateKey, signer: await chainKeySigner(privateKey), source };
}

/** Also for one that cannot be read: the keychain may have lost it. */
export async function hasChainKey(context: Context): Promise<boolean> {
  const fromEnvironment = context.world.env["SERVICE_CHAIN_PRIVATE_KEY"] ?? "";
  return fromEnvironment !== "" || (await selectedProfile(context)).stored?.chainPrivateKey != null;
}

export async function requireChainKey(context: Context): Promise<OwnChainKey> {
  const key = await findChainKey(context);
  if (key !== null) return key;
  throw new CommandFailure("shared_vault", {
    message: "There is no chain key here (SERVICE_CHAIN_PRIVATE_KEY, or one in the profile)",
    nextStep: "coffer chain import, or coffer chain generate for an account that has no chain address yet",
  });
}

/** For somebody whose account has an address whose key is on another machine: a new key would open none of its vaults. */
export const KEY_IS_ELSEWHERE =
  "where the key is, coffer chain backup FILE, then here coffer chain import --stdin < FILE. Or let this machine in as a member: there coffer invites create --name NAME --vaults VAULT --prompt, then here the line that it prints, with --profile NAME";

/** The address that the service has for whoever is signed in: the key's own, else the account's. */
export const addressAtService = ({ account, credential }: AccountWithCredential): string | null =>
  credential.chainAddress ?? account.chainAddress;

/** Saves a chain key into the profile. Another one that is there is only replaced when that is asked for and confirmed. */
export async function saveChainKey(context: Context, privateKey: Secret, replace: boolean): Promise<ReachableProfile> {
  const selected = await reachableProfile(context);
  if (selected.stored?.chainPrivateKey != null && !isKeyOf(selected.stored, privateKey)) {
    if (!replace)
      throw new CommandFailure("key_exists", {
        message: `The profile ${selected.profile} has a chain key already`,
        nextStep: "coffer chain backup FILE, then repeat with --replace; or name another --profile",
      });
    await context.confirm("Replace the chain key? Vaults that only the old one opens stay closed without its backup.");
  }
  await saveProfile(selected, { chainPrivateKey: privateKey });
  return selected;
}

/** false also for a key that the keychain has lost: another one may take its place. */
function isKeyOf({ chainPrivateKey, keyStore }: Profile, privateKey: Secret): boolean {
  try {
    return chainPrivateKey?.reveal() === privateKey.reveal();
  } catch (error) {
    if (keyStore === "keychain") return false;
    throw error;
  }
}
