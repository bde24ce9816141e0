import { saveProfile, type ProfileChanges } from "@coffer/tasks";
import { findChainKey, type OwnChainKey } from "../../chain-keys.ts";
import type { Context } from "../../context.ts";
import { command, text, toggle } from "../../declarations.ts";
import { reportOf } from "../../failure.ts";
import { done } from "../../result.ts";
import { findNetwork, NETWORK_FLAGS, type NetworkFlags, type ServiceNetwork } from "../../service-network.ts";
import {
  networkFileAt,
  warnOfEnvironment,
  reachableProfile,
  readNewPassword,
  requireSignedOut,
  saveKey,
  saveSession,
  anonymousClient,
  type ReachableProfile,
} from "../../profile-credentials.ts";

export default command({
  brief: "Make an account, with a chain key of its own",
  description:
    "Saves the sign-in and a new chain key in the profile (mode 0600), and links the key's address to the account. Shared vaults need the network's file. The service gives it, and it is used if its SHA-256 is that of --network-digest, or if you type how it begins on the operator's page. At a service without one, or with --no-chain-key, the account has public vaults only. An access code is used last: what else can fail is found before.",
  examples: [
    {
      line: "coffer signup --base-url https://coffer.example.com --email me@example.com",
      does: "asks for the password",
    },
    {
      line: "coffer signup --dev --email me@example.com --network-file network.json",
      does: "at a service in development",
    },
  ],
  flags: {
    email: text("Your e-mail address; asked for without it", { placeholder: "EMAIL" }),
    accessCode: text("Code from the operator, where a new account needs one", { placeholder: "CODE" }),
    name: text("Your name, for people to read", { placeholder: "NAME" }),
    passwordStdin: toggle("Read the password from standard input; without it you are asked"),
    ...NETWORK_FLAGS,
    noChainKey: toggle("Make no chain key: public vaults only"),
    dev: toggle("Sign up without a password; only a service in development allows it"),
  },
  run: async (context, flags) => {
    const selected = await reachableProfile(context);
    requireSignedOut(selected);
    const email = flags.email ?? (await context.ask("E-mail", "pass --email EMAIL"));
    const password = flags.dev ? null : await readNewPassword(context, flags.passwordStdin, "--password-stdin");
    const prepared = await prepare(context, selected, flags);
    const accountId =
      password === null
        ? await signUpInDevelopment(context, selected, email)
        : await signUp(context, selected, { ...flags, email, password });
    context.serviceLink.reset();
    const link = prepared.key === null ? null : await linkKey(context, prepared.key);
    warnOfEnvironment(context);
    const { profile, configFile } = selected;
    const chainAddress = link !== null && link.problem === null ? link.address : null;
    const next = chainAddress === null ? "coffer upload FILE" : 'coffer vaults create "Team" --shared';
    return done(
      { accountId, email, profile, configFile, chainAddress },
      [
        `Signed up as ${email}. The keys are in ${configFile} (profile ${profile}).`,
        chainAddress === null ? null : `Your chain address: ${chainAddress}`,
        ...prepared.lines,
        ...(link?.problem ?? []),
        `Next: ${next}`,
      ].filter((line) => line !== null),
    );
  },
});

interface SignUpPreparation {
  /** null: the account gets no address. */
  readonly key: OwnChainKey | null;
  /** Why there are no shared vaults, and how there will be. */
  readonly lines: readonly string[];
}

/**
 * Everything that can fail on this machine or about the network, before an access code is spent: the network, the chain key, and a first
 * write of the profile. The key is saved before its address is linked, so that a run that is cut off loses none.
 */
async function prepare(
  context: Context,
  selected: ReachableProfile,
  flags: NetworkFlags & { readonly noChainKey: boolean },
): Promise<SignUpPreparation> {
  if (flags.noChainKey) {
    await saveTwice(
      selected,
      flags.networkFile === undefined ? {} : { networkFile: networkFileAt(context, flags.networkFile) },
    );
    return { key: null, lines: [] };
  }
  const network = await findNetwork(context, selected, flags);
  if (network.kind !== "known") {
    await saveTwice(selected, {});
    return { key: null, lines: linesWithout(network) };
  }
  const existingKey = await findChainKey(context);
  const isOfEnvironment = (context.world.env["SERVICE_NETWORK_FILE"] ?? "") !== "" && flags.networkFile === undefined;
  const file = isOfEnvironment ? {} : { networkFile: network.path };
  if (existingKey !== null) {
    await saveTwice(selected, file);
    return { key: existingKey, lines: [] };
  }
  const { chainKeySigner, generateChainKey } = await import("@coffer/sdk");
  const { privateKey } = await generateChainKey();
  context.redaction.register(privateKey.reveal());
  await saveTwice(selected, { ...file, chainPrivateKey: privateKey });
  return { key: { privateKey, signer: await chainKeySigner(privateKey), source: "profile" }, lines: [] };
}

/** Twice, so that there is room for the sign-in beside the file that is there by then: an access code is good for one account. */
async function saveTwice(selected: ReachableProfile, changes: ProfileChanges): Promise<void> {
  await saveProfile(selected, changes);
  await saveProfile(selected, changes);
}

function linesWithout({ kind }: Exclude<ServiceNetwork, { readonly kind: "known" }>): string[] {
  if (kind === "none")
    return [
      "Shared vaults are not available at this service: it names no network. Public vaults are.",
      "If its operator gives you a network file: coffer config set network-file FILE, coffer chain generate, coffer account link-chain",
    ];
  return [
    "Shared vaults are not set up: nobody compared the service's network file with the page of its operator.",
    "To do it later: coffer chain network, coffer chain generate, coffer account link-chain",
  ];
}

async function signUpInDevelopment(context: Context, selected: ReachableProfile, email: string): Promise<string> {
  const { id, apiKey } = await (
    await anonymousClient(selected)
  ).development.signup({ email }, { signal: context.signal });
  await saveKey(selected, apiKey, context);
  return id;
}

interface SignUpRequest {
  readonly email: string;
  readonly accessCode: string | undefined;
  readonly name: string | undefined;
  readonly password: string;
}

async function signUp(context: Context, selected: ReachableProfile, request: SignUpRequest): Promise<string> {
  const { email, password, accessCode, name } = request;
  const signedIn = await (
    await anonymousClient(selected)
  ).auth.signup({ email, password, accessCode, name }, { signal: context.signal });
  await saveSession(selected, signedIn, context);
  return signedIn.user.id;
}

interface LinkOutcome {
  readonly address: string;
  /** null: it is linked. Else what is wrong, and the next step: the account is there all the same. */
  readonly problem: readonly string[] | null;
}

async function linkKey(context: Context, { signer }: OwnChainKey): Promise<LinkOutcome> {
  const address = signer.chainAddress;
  try {
    await (await context.client()).account.linkChain(signer, { signal: context.signal });
    return { address, problem: null };
  } catch (thrown) {
    if (context.signal.aborted) throw thrown;
    const { interrupted } = context.world;
    const { message } = reportOf(thrown, { interrupted, timedOut: context.timedOut, group: "signup" });
    const lines = [
      `The chain address ${address} could not be linked to the account: ${message}`,
      "To try again: coffer account link-chain",
    ];
    return { address, problem: lines };
  }
}
