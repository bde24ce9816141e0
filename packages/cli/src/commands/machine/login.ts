import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { joinByInvite, approveCommand, saveProfile, untrusted, type ProfileChanges } from "@coffer/tasks";
import type { Context } from "../../context.ts";
import { command, text, toggle } from "../../declarations.ts";
import { usage } from "../../failure.ts";
import { done, type Document } from "../../result.ts";
import { digestPrompt, parseDigest, findNetwork, NETWORK_FLAGS } from "../../service-network.ts";
import { signInByBrowser } from "../../browser-sign-in.ts";
import {
  networkFileAt,
  warnOfEnvironment,
  reachableProfile,
  readSecret,
  requireSignedOut,
  saveKey,
  saveSession,
  anonymousClient,
  type ReachableProfile,
} from "../../profile-credentials.ts";
import { endText } from "../owner/cell-text.ts";

export default command({
  brief: "Sign in: by an invite, an API key, a password or another device",
  description:
    "Without a flag it asks for e-mail address and password. The sign-in is saved in the profile (mode 0600). An invite makes a chain key too, whose private part never leaves this machine. The service's network file, which shared vaults need, is used if its SHA-256 is in the invite or in --network-digest, or if you type how it begins on the operator's page. coffer whoami shows who you are then.",
  examples: [
    { line: "coffer login --invite-code cofi_XXXX.YYYY", does: "for an agent" },
    { line: "coffer login --invite-code - < invite.txt", does: "keeps the invite out of the list of processes" },
    { line: "coffer login --api-key-stdin < key.txt", does: "for a script" },
    { line: "coffer login --email me@example.com", does: "asks for the password" },
    { line: "coffer login --zklogin", does: "shows an address to open anywhere" },
  ],
  flags: {
    inviteCode: text("Invite that the owner gave you; - reads standard input", { placeholder: "CODE" }),
    inviteFile: text("File with the invite; - reads standard input", { placeholder: "FILE" }),
    ...NETWORK_FLAGS,
    apiKeyStdin: toggle("Read an API key from standard input"),
    email: text("E-mail address of the account", { placeholder: "EMAIL" }),
    passwordStdin: toggle("Read the password from standard input; without it you are asked"),
    zklogin: toggle("Sign in in a browser on any device, with a chain address from zkLogin"),
    provider: toggle("Sign in in a browser on any device, at the identity provider"),
    accessCode: text("Code from the operator, where a new account needs one", { placeholder: "CODE" }),
  },
  run: async (context, flags) => {
    const ways = [
      flags.inviteCode ?? flags.inviteFile,
      flags.apiKeyStdin,
      flags.email,
      flags.zklogin || flags.provider,
    ];
    if (ways.filter((way) => way !== undefined && way !== false).length > 1)
      throw usage("Pass one way to sign in", "coffer login --help");
    const selected = await reachableProfile(context);
    requireSignedOut(selected);
    // A file that is not there is named before an invite is spent.
    const networkFile = flags.networkFile === undefined ? undefined : networkFileAt(context, flags.networkFile);
    const result = await signInBy(context, selected, { ...flags, networkFile });
    warnOfEnvironment(context);
    return result;
  },
});

interface SignInFlags {
  readonly inviteCode: string | undefined;
  readonly inviteFile: string | undefined;
  /** With its whole path. */
  readonly networkFile: string | undefined;
  readonly networkDigest: string | undefined;
  readonly apiKeyStdin: boolean;
  readonly email: string | undefined;
  readonly passwordStdin: boolean;
  readonly zklogin: boolean;
  readonly provider: boolean;
  readonly accessCode: string | undefined;
}

async function signInBy(context: Context, selected: ReachableProfile, ways: SignInFlags): Promise<Document> {
  if (ways.inviteCode !== undefined || ways.inviteFile !== undefined) return await byInvite(context, selected, ways);
  const changes = await networkToKeep(context, selected, ways);
  if (ways.apiKeyStdin) return await byKey(context, selected, changes);
  if (ways.zklogin || ways.provider) {
    const prepare = (): Promise<void> => saveProfile(selected, changes);
    const { tokens, chainAddress } = await signInByBrowser(context, await anonymousClient(selected), {
      ...ways,
      prepare,
    });
    await saveSession(selected, tokens, context);
    return signedIn(selected, chainAddress === null ? [] : [`Your zkLogin address: ${chainAddress}`], { chainAddress });
  }
  const email = ways.email ?? (await context.ask("E-mail", "pass --email, --invite-code or --api-key-stdin"));
  const password = await readSecret(context, ways.passwordStdin, "Password", "--password-stdin");
  const answer = await (await anonymousClient(selected)).auth.login({ email, password }, { signal: context.signal });
  await saveSession(selected, answer, context, changes);
  return signedIn(selected, [], { accountId: answer.user.id, email: answer.user.email });
}

/** Asks the service and nobody else: who signs in may have a network already, or need none. */
async function networkToKeep(context: Context, selected: ReachableProfile, ways: SignInFlags): Promise<ProfileChanges> {
  if (ways.networkFile === undefined && ways.networkDigest === undefined) return {};
  const network = await findNetwork(context, selected, ways);
  return network.kind === "known" ? { networkFile: network.path } : {};
}

const signedIn = ({ profile, configFile }: ReachableProfile, lines: readonly string[], facts: object): Document =>
  done({ profile, configFile, ...facts }, [
    `Signed in. The keys are in ${configFile} (profile ${profile}).`,
    ...lines,
    "Next: coffer whoami",
  ]);

/** The key is tried before it is saved. */
async function byKey(context: Context, selected: ReachableProfile, changes: ProfileChanges): Promise<Document> {
  const { createClient, Secret } = await import("@coffer/sdk");
  const apiKey = (await context.readInput("API key")).trim();
  if (!/^cof_\w+$/.test(apiKey))
    throw usage(
      apiKey === ""
        ? "There is no key on standard input"
        : "What is on standard input is no API key: one begins with cof_",
      "coffer login --api-key-stdin < FILE",
    );
  context.redaction.register(apiKey);
  const client = createClient({ baseUrl: selected.baseUrl, credentials: { apiKey: new Secret(apiKey) } });
  const { account } = await client.account.get({ signal: context.signal });
  await saveKey(selected, apiKey, context, changes);
  return signedIn(selected, [], { accountId: account.id, email: account.email });
}

async function byInvite(context: Context, selected: ReachableProfile, ways: SignInFlags): Promise<Document> {
  const { env, workingDirectory } = context.world;
  const { ContractError, Secret } = await import("@coffer/sdk");
  const code = await inviteText(context, ways);
  context.redaction.register(code.trim());
  const network = ways.networkFile ?? env["SERVICE_NETWORK_FILE"] ?? "";
  const chainKey = env["SERVICE_CHAIN_PRIVATE_KEY"] ?? "";
  const joined = await joinByInvite({
    code,
    env,
    baseUrl: selected.baseUrl,
    configFile: selected.configFile,
    profile: selected.profile,
    networkFile: network === "" ? null : resolve(workingDirectory, network),
    proof: { digest: parseDigest(ways.networkDigest), ask: digestPrompt(context) },
    signal: context.signal,
    chainPrivateKey: chainKey === "" ? null : new Secret(chainKey),
  }).catch((thrown: unknown) => {
    // The text is all that this line gives the call.
    if (!(thrown instanceof ContractError && thrown.code === "invalid_request")) throw thrown;
    throw usage(
      "That is no whole invite: one is a single word that begins with cofi_",
      "ask the owner for the text that coffer invites create printed",
    );
  });
  const { accessUntil, chainAddress, vaultIds } = joined;
  return done(joined, [
    `Joined. The keys are in ${joined.configFile} (profile ${joined.profile}).`,
    `Your chain address: ${chainAddress}`,
    `Your access ends: ${endText(accessUntil)}`,
    ...(joined.networkFile === null ? [] : [`Network of shared vaults: ${joined.networkFile}`]),
    ...(vaultIds.length === 0
      ? []
      : [
          "To let you into the shared vaults of the invite, the owner runs, where the invite was made:",
          // With the name of the program there: it is not the one of here.
          untrusted(`  ${approveCommand(chainAddress)}`),
        ]),
    "Next: coffer mcp install --allow DIR",
  ]);
}

async function inviteText(context: Context, { inviteCode, inviteFile }: SignInFlags): Promise<string> {
  const { workingDirectory } = context.world;
  if (inviteFile !== undefined) return await readFile(resolve(workingDirectory, inviteFile), "utf8");
  if (inviteCode !== undefined && inviteCode !== "-") return inviteCode;
  const text = await context.readInput("Invite");
  if (text.trim() === "") throw usage("There is no invite on standard input", "coffer login --invite-code - < FILE");
  return text;
}
