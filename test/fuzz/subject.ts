/** A server to fuzz: with an identity provider, mails that can be read, and access codes. */
import { makeAccessCode } from "../journeys/kit/identity.ts";
import { openLocalProvider } from "../kit/identity-provider.ts";
import { openWebhookSink } from "../journeys/kit/webhook-sink.ts";
import { openScratchServer } from "../crash/server-process.ts";
import type { FuzzOptions } from "./run.ts";

export type FuzzSubject = AsyncDisposable &
  Required<Pick<FuzzOptions, "baseUrl" | "accessCode" | "dataDirectory" | "receivers">>;

/**
 * Operations whose success takes a browser at the identity provider, a signature over a challenge, or a chain: a fuzzer draws none of
 * them, and its server has no network file. The acceptance tests have all.
 */
export const OUT_OF_REACH: readonly string[] = [
  "identityProvider.callback",
  "identityProvider.zkloginToken",
  "identityProvider.zkloginAuth",
  "account.linkChain",
  "members.list",
  "members.add",
  "members.remove",
  "vaultKeys.list",
  "vaultKeys.publish",
  "vaultKeys.steps",
  "ownership.claim",
  "deletion.challenge",
  "folderNames.get",
  "folderNames.stage",
  "system.network",
];

export async function openFuzzSubject(variables: Readonly<Record<string, string>> = {}): Promise<FuzzSubject> {
  await using opened = new AsyncDisposableStack();
  const provider = opened.use(await openLocalProvider());
  const server = opened.use(
    await openScratchServer({
      SERVICE_IDP_ISSUER: provider.issuer,
      SERVICE_IDP_CLIENT_ID: provider.clientId,
      SERVICE_IDP_CLIENT_SECRET: String(provider.clientSecret),
      SERVICE_ALLOW_UNSIGNED_REDEEM: "1",
      ...variables,
    }),
  );
  const sink = opened.use(await openWebhookSink());
  const receivers = [204, 500, 410].map((status) => {
    const receiver = sink.receiver();
    receiver.answer(status);
    return receiver.url;
  });
  const accessCode = await makeAccessCode(server.variables, { uses: 100_000 });
  const all = opened.move();
  return {
    baseUrl: server.baseUrl,
    accessCode,
    dataDirectory: server.directory,
    receivers,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
