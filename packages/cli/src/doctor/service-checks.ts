/** What the service says: whether it answers, what time it has, who is signed in, and why a vault does not open. */
import { systemGroup } from "@coffer/contract";
import type { AccessCheck, AccountWithCredential, Client } from "@coffer/sdk";
import type { Settings } from "@coffer/sdk/node";
import { findVault } from "@coffer/tasks";
import { addressAtService, findChainKey, KEY_IS_ELSEWHERE } from "../chain-keys.ts";
import type { Context } from "../context.ts";
import { reportOf } from "../failure.ts";
import { APPLICATION } from "../version.ts";
import { layerCheck, ok, problem, unset, type Check } from "./check.ts";

/** Signatures with times are refused beyond it. */
const MOST_AHEAD_MS = 5 * 60_000;
const ONE_ATTEMPT = { retries: 0, totalMs: 10_000 };

export interface ServiceReport {
  readonly checks: readonly Check[];
  /** What the service has for whoever is signed in; undefined where it was not asked, or did not answer. */
  readonly chainAddress: string | null | undefined;
}

export async function checkService(
  context: Context,
  settings: Settings,
  vault: string | undefined,
): Promise<ServiceReport> {
  const { baseUrl } = settings;
  let chainAddress: string | null | undefined;
  if (baseUrl === null || !URL.canParse(baseUrl)) return { checks: [], chainAddress };
  const health = await healthChecks(context, baseUrl);
  const isDown = health.some(({ state }) => state === "problem") && health.length === 1;
  if (isDown || (settings.apiKey === null && settings.session === null)) return { checks: health, chainAddress };
  const signIn = await attempt(context, "sign-in", async (): Promise<readonly Check[]> => {
    const facts = await (await context.client()).account.get({ ...ONE_ATTEMPT, signal: context.signal });
    chainAddress = addressAtService(facts);
    return await accountChecks(context, facts);
  });
  const isRefused = signIn.some(({ name, state }) => name === "sign-in" && state === "problem");
  const vaultLayers =
    vault === undefined || isRefused ? [] : await attempt(context, "vault", () => vaultChecks(context, vault));
  return { checks: [...health, ...signIn, ...vaultLayers], chainAddress };
}

async function attempt(
  context: Context,
  name: string,
  work: () => Promise<readonly Check[]>,
): Promise<readonly Check[]> {
  try {
    return await work();
  } catch (thrown) {
    const { message, nextStep } = reportOf(thrown, {
      interrupted: context.world.interrupted,
      timedOut: context.timedOut,
      group: "doctor",
    });
    return [problem(name, message, nextStep)];
  }
}

async function healthChecks(context: Context, baseUrl: string): Promise<readonly Check[]> {
  const { createClient } = await import("@coffer/sdk");
  const client: Client = createClient({ baseUrl, application: APPLICATION });
  return await attempt(context, "service", async () => {
    const began = context.world.now();
    const { output, headers } = await client.request(
      systemGroup.health,
      {},
      { ...ONE_ATTEMPT, signal: context.signal },
    );
    const took = context.world.now() - began;
    return [
      ok("service", `version ${output.version}, answered in ${String(took)} ms`, "service"),
      clockCheck(headers, context.world.now()),
    ];
  });
}

function clockCheck(headers: Headers, now: number): Check {
  const theirs = Date.parse(headers.get("date") ?? "");
  if (Number.isNaN(theirs)) return unset("clock", "the service sends no time, so it cannot be compared");
  const ahead = now - theirs;
  const words = `${String(Math.round(Math.abs(ahead) / 1_000))} s ${ahead >= 0 ? "ahead of" : "behind"} the service`;
  return Math.abs(ahead) > MOST_AHEAD_MS
    ? problem("clock", words, "set this machine's clock, or have the service's set")
    : ok("clock", words);
}

async function accountChecks(context: Context, facts: AccountWithCredential): Promise<readonly Check[]> {
  const { account, credential } = facts;
  const ends = credential.expiresAt === null ? "" : `, until ${credential.expiresAt}`;
  const signIn = ok("sign-in", `${account.email}, ${account.accessLevel}${ends}`, "service");
  const own = (await findChainKey(context).catch(() => null))?.signer.chainAddress;
  const theirs = addressAtService(facts);
  if (own === undefined) return [signIn];
  if (theirs === null) return [signIn, unset("chain-address", "coffer account link-chain")];
  return [
    signIn,
    theirs === own
      ? ok("chain-address", "the account's and this machine's are the same", "service")
      : problem("chain-address", `the service has ${theirs}, this machine's key has ${own}`, KEY_IS_ELSEWHERE),
  ];
}

const LAYERS = ["api", "chain", "keyServers", "clock", "key"] as const satisfies readonly (keyof AccessCheck)[];

async function vaultChecks(context: Context, vault: string): Promise<readonly Check[]> {
  const client = await context.client();
  const { id } = await findVault(context.task, vault);
  const access = await client.vaults.checkAccess(id, { signal: context.signal });
  return LAYERS.map((layer) => layerCheck(`vault: ${layer}`, access[layer], id));
}
