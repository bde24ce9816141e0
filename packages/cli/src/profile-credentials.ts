/** What signing in and signing up share: the profile, the password, and what is saved. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Client, SignedIn } from "@coffer/sdk";
import type { StoredSession } from "@coffer/sdk";
import { findProfile, saveProfile, type ProfileChanges, type SelectedProfile } from "@coffer/tasks";
import type { Context } from "./context.ts";
import { CommandFailure, usage } from "./failure.ts";
import { APPLICATION } from "./version.ts";

/** A profile whose service has an address. */
export type ReachableProfile = SelectedProfile & { readonly baseUrl: string };

export async function selectedProfile({ world, globals }: Context): Promise<SelectedProfile> {
  return await findProfile({ env: world.env, profile: globals.profile, baseUrl: globals.baseUrl });
}

export async function reachableProfile(context: Context): Promise<ReachableProfile> {
  const selected = await selectedProfile(context);
  const { baseUrl } = selected;
  if (baseUrl !== null && URL.canParse(baseUrl)) return { ...selected, baseUrl };
  const nextStep = "pass --base-url https://YOUR-SERVICE, or set SERVICE_BASE_URL";
  throw new CommandFailure("not_configured", { message: "The address of the service is missing", nextStep });
}

/** The operator's file that names chain and key servers, as a profile keeps it: with its whole path. */
export function networkFileAt({ world }: Context, path: string): string {
  const networkFile = resolve(world.workingDirectory, path);
  if (existsSync(networkFile)) return networkFile;
  throw new CommandFailure("file_not_found", {
    message: `There is no file ${networkFile}`,
    nextStep: "name the file that the operator gave you",
  });
}

/** Refuses to put a second credential over one that is there. */
export function requireSignedOut({ profile, stored, configFile }: SelectedProfile): void {
  if (stored === null || (stored.apiKey === null && stored.session == null)) return;
  throw new CommandFailure("name_exists", {
    message: `The profile ${profile} of ${configFile} is signed in already`,
    nextStep: "name another with --profile NAME, or run coffer logout first",
  });
}

/** A client that has no credential. */
export async function anonymousClient({ baseUrl }: ReachableProfile): Promise<Client> {
  const { createClient } = await import("@coffer/sdk");
  return createClient({ baseUrl, application: APPLICATION });
}

export async function saveSession(
  selected: ReachableProfile,
  tokens: Pick<SignedIn, "accessToken" | "refreshToken" | "expiresIn">,
  { world, redaction }: Context,
  more: ProfileChanges = {},
): Promise<void> {
  const { Secret } = await import("@coffer/sdk");
  for (const secret of [tokens.accessToken, tokens.refreshToken]) redaction.register(secret);
  const session: StoredSession = {
    refreshToken: new Secret(tokens.refreshToken),
    accessToken: new Secret(tokens.accessToken),
    expiresAt: world.now() + tokens.expiresIn * 1_000,
    presented: false,
  };
  await saveProfile(selected, { ...more, session, apiKey: null });
}

export async function saveKey(
  selected: ReachableProfile,
  apiKey: string,
  { redaction }: Context,
  more: ProfileChanges = {},
): Promise<void> {
  const { Secret } = await import("@coffer/sdk");
  redaction.register(apiKey);
  await saveProfile(selected, { ...more, apiKey: new Secret(apiKey), session: null });
}

/** The first line of standard input, or what a person types. */
export async function readSecret(
  context: Context,
  fromInput: boolean,
  question: string,
  flag: string,
): Promise<string> {
  const secret = fromInput
    ? ((await context.readInput(question)).split(/\r?\n/)[0] ?? "")
    : await context.ask(question, `pass it on standard input with ${flag}`, true);
  if (secret === "") throw usage(`${question} is empty`, `pass it on standard input with ${flag}`);
  context.redaction.register(secret);
  return secret;
}

/** A new password, typed twice by a person. */
export async function readNewPassword(context: Context, fromInput: boolean, flag: string): Promise<string> {
  const password = await readSecret(context, fromInput, "New password", flag);
  if (fromInput) return password;
  if ((await context.ask("The same again", "", true)) === password) return password;
  throw usage("The two passwords differ", "run it again");
}

/** What is in the environment wins over what was saved. */
export function warnOfEnvironment({ world, printNote }: Context): void {
  if ((world.env["SERVICE_API_KEY"] ?? "") !== "")
    printNote("note: SERVICE_API_KEY is set, and wins over what was saved. Unset it to use the profile.");
}
