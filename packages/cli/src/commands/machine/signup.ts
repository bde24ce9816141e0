import { saveProfile } from "@coffer/tasks";
import { findChainKey } from "../../chain-keys.ts";
import type { Context } from "../../context.ts";
import { command, text, toggle } from "../../declarations.ts";
import { done } from "../../result.ts";
import {
  networkFileAt,
  noteEnvironment,
  reachableProfile,
  readNewPassword,
  requireSignedOut,
  saveKey,
  saveSession,
  visitor,
  type ReachableProfile,
} from "../../signing-in.ts";

export default command({
  brief: "Make an account, with a chain key of its own",
  description:
    "Saves the sign-in and a new chain key in the profile (mode 0600), and links the key's address to the account. Shared vaults need --network-file too.",
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
    networkFile: text("File of the operator that names chain and key servers; shared vaults need it", {
      placeholder: "FILE",
    }),
    noChainKey: toggle("Make no chain key: public vaults only"),
    dev: toggle("Sign up without a password; only a service in development allows it"),
  },
  run: async (context, flags) => {
    const place = await reachableProfile(context);
    requireSignedOut(place);
    const networkFile = flags.networkFile === undefined ? undefined : networkFileAt(context, flags.networkFile);
    const email = flags.email ?? (await context.ask("E-mail", "pass --email EMAIL"));
    const accountId = flags.dev
      ? await signUpInDevelopment(context, place, email)
      : await signUp(context, place, { ...flags, email });
    if (networkFile !== undefined) await saveProfile(await reachableProfile(context), { networkFile });
    context.session.forget();
    const chainAddress = flags.noChainKey ? null : await linkNewKey(context);
    noteEnvironment(context);
    const { profile, configFile } = place;
    const next = chainAddress === null ? "coffer upload FILE" : 'coffer vaults create "Team" --shared';
    return done(
      { accountId, email, profile, configFile, chainAddress },
      [
        `Signed up as ${email}. The keys are in ${configFile} (profile ${profile}).`,
        chainAddress === null ? null : `Your chain address: ${chainAddress}`,
        `Next: ${next}`,
      ].filter((line) => line !== null),
    );
  },
});

async function signUpInDevelopment(context: Context, place: ReachableProfile, email: string): Promise<string> {
  const { id, apiKey } = await (await visitor(place)).development.signup({ email }, { signal: context.signal });
  await saveKey(place, apiKey, context);
  return id;
}

interface Wish {
  readonly email: string;
  readonly accessCode: string | undefined;
  readonly name: string | undefined;
  readonly passwordStdin: boolean;
}

async function signUp(context: Context, place: ReachableProfile, wish: Wish): Promise<string> {
  const { email, accessCode, name } = wish;
  const password = await readNewPassword(context, wish.passwordStdin, "--password-stdin");
  const signedIn = await (
    await visitor(place)
  ).auth.signup({ email, password, accessCode, name }, { signal: context.signal });
  await saveSession(place, signedIn, context);
  return signedIn.user.id;
}

/** The key is saved before its address is linked, so that a run that is cut off loses none. */
async function linkNewKey(context: Context): Promise<string> {
  const { chainKeySigner, generateChainKey } = await import("@coffer/sdk");
  let signer = (await findChainKey(context))?.signer;
  if (signer === undefined) {
    const { privateKey } = await generateChainKey();
    context.redaction.register(privateKey.reveal());
    await saveProfile(await reachableProfile(context), { chainPrivateKey: privateKey });
    context.session.forget();
    signer = await chainKeySigner(privateKey);
  }
  await (await context.client()).account.linkChain(signer, { signal: context.signal });
  return signer.chainAddress;
}
