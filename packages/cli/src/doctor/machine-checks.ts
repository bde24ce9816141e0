/** What lies on this machine: the configuration, and where each value comes from. */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { SharedVaults } from "@coffer/sdk";
import type { Settings } from "@coffer/sdk/node";
import type { Context } from "../context.ts";
import { isKeychainClosed, reportOf } from "../failure.ts";
import { findChainKey, KEY_IS_ELSEWHERE, type OwnChainKey } from "../chain-keys.ts";
import { shellWord } from "../shell-word.ts";
import { VERSION } from "../version.ts";
import { addressOfStack } from "./stack-address.ts";
import { layerCheck, ok, problem, unset, type Check } from "./check.ts";

export interface MachineReport {
  readonly checks: readonly Check[];
  /** null: the configuration cannot be used. */
  readonly settings: Settings | null;
  /** false: {@link missingKey} says what to do. It is true also for one that cannot be used. */
  readonly hasChainKey: boolean;
}

export async function checkMachine(context: Context): Promise<MachineReport> {
  const { world } = context;
  const program = ok("program", `coffer ${VERSION}, Node ${process.versions.node}, ${world.platform}`);
  const { configFile } = await import("@coffer/sdk/node");
  const file = await fileCheck(configFile(world.env), world.platform);
  try {
    const settings = await context.settings();
    for (const secret of [settings.apiKey, settings.chainPrivateKey]) context.redaction.register(secret?.reveal());
    const key = await findChainKey(context).catch(() => "unusable" as const);
    return {
      hasChainKey: key !== null,
      checks: [
        program,
        file,
        profileCheck(context, settings),
        await addressCheck(settings),
        credentialCheck(context, settings),
        ...(await chainChecks(context, settings, key)),
        ...(await contentOriginChecks(settings)),
      ],
      settings,
    };
  } catch (thrown) {
    const { message } = reportOf(thrown, {
      interrupted: world.interrupted,
      timedOut: context.timedOut,
      group: "doctor",
    });
    const next = isKeychainClosed(thrown)
      ? "coffer config set key-store file, once it opens; coffer chain import --replace, if the key is lost"
      : "coffer profiles list, or coffer login";
    return {
      checks: [program, file, problem("settings", message, next)],
      settings: null,
      hasChainKey: true,
    };
  }
}

async function fileCheck(file: string, platform: string): Promise<Check> {
  const stats = await stat(file).catch(() => null);
  if (stats === null)
    return unset("configuration", `${file} is not there yet: coffer login or coffer signup writes it`);
  if (platform === "win32") return ok("configuration", file);
  if ((stats.mode & 0o077) !== 0) return problem("configuration", `${file} can be read by others`, `chmod 600 ${file}`);
  const directory = await stat(dirname(file));
  if ((directory.mode & 0o022) !== 0)
    return problem("configuration", `others can write to ${dirname(file)}`, `chmod 700 ${dirname(file)}`);
  return ok("configuration", file);
}

function profileCheck({ globals, world }: Context, { profile }: Settings): Check {
  const fromEnvironment = (world.env["SERVICE_PROFILE"] ?? "") !== "";
  return ok("profile", profile, globals.profile !== undefined ? "flag" : fromEnvironment ? "environment" : "default");
}

async function addressCheck({ baseUrl, networkFile, profile, sources }: Settings): Promise<Check> {
  if (baseUrl === null) return unset("base-url", "coffer config set base-url URL, or set SERVICE_BASE_URL");
  if (!URL.canParse(baseUrl)) return problem("base-url", baseUrl, "coffer config set base-url URL", sources.baseUrl);
  const stack = networkFile === null ? null : await addressOfStack(networkFile);
  if (stack !== null && stack !== baseUrl.replace(/\/$/, "")) {
    const quotedProfile = shellWord(profile);
    const next = `start it with npm start -- --port and the former one; or coffer logout --profile ${quotedProfile}, then coffer login --profile ${quotedProfile} --base-url ${stack}`;
    return problem(
      "base-url",
      `${baseUrl}, but the stack of ${networkFile ?? ""} moved to ${stack}`,
      next,
      sources.baseUrl,
    );
  }
  return ok("base-url", baseUrl, sources.baseUrl);
}

function credentialCheck({ world }: Context, { apiKey, session, sources }: Settings): Check {
  if (apiKey !== null) return ok("credential", "an API key", sources.apiKey);
  if (session !== null) return ok("credential", "a web session", "profile");
  const isSet = (world.env["SERVICE_API_KEY"] ?? "") !== "";
  return unset("credential", isSet ? "set SERVICE_BASE_URL too" : "coffer login");
}

/** `chainAddress`: what the service has; undefined where it was not asked. */
export function missingKey(chainAddress: string | null | undefined): Check {
  const generate = "coffer chain generate (for shared vaults)";
  if (chainAddress === null) return unset("chain-key", generate);
  if (chainAddress === undefined)
    return unset("chain-key", `coffer chain import, if your account has a chain address already; else ${generate}`);
  const value = `the account has the chain address ${chainAddress}, and its key is not on this machine`;
  return { ...unset("chain-key", KEY_IS_ELSEWHERE), value };
}

async function chainChecks(
  context: Context,
  settings: Settings,
  key: OwnChainKey | "unusable" | null,
): Promise<Check[]> {
  const { networkFile } = settings;
  const keyChecks =
    key === null
      ? []
      : key === "unusable"
        ? [problem("chain-key", "it is no chain key", "coffer chain import")]
        : [ok("chain-key", key.signer.chainAddress, key.source)];
  const fromEnvironment = (context.world.env["SERVICE_NETWORK_FILE"] ?? "") !== "";
  if (networkFile === null)
    return [
      ...keyChecks,
      unset("network-file", "coffer chain network, or coffer config set network-file FILE (for shared vaults)"),
    ];
  const source = fromEnvironment ? "environment" : "profile";
  if (key === null || key === "unusable") return [...keyChecks, ok("network-file", networkFile, source)];
  try {
    const { openSharedVaults } = await import("@coffer/sdk/node");
    const vaults = await openSharedVaults({ chainPrivateKey: key.privateKey, networkFile });
    return [
      ...keyChecks,
      ok("network-file", networkFile, source),
      ...(vaults === null ? [] : await networkChecks(vaults)),
    ];
  } catch (thrown) {
    const { message } = reportOf(thrown, { interrupted: context.world.interrupted, timedOut: context.timedOut });
    return [...keyChecks, problem("network-file", message, "coffer config set network-file FILE", source)];
  }
}

/** Whether the chain and the key servers answer, within three seconds each. */
async function networkChecks(vaults: SharedVaults): Promise<Check[]> {
  const { checkNetwork } = await import("@coffer/sdk/shared");
  const { chain, keyServers } = await checkNetwork(vaults);
  return [layerCheck("chain", chain), layerCheck("key-servers", keyServers)];
}

/** Most have none, and need none. */
async function contentOriginChecks({
  contentOrigins,
  sources: { contentOrigins: source },
}: Settings): Promise<Check[]> {
  if (contentOrigins.length === 0) return [];
  const { nodeTransport } = await import("@coffer/sdk/node");
  try {
    nodeTransport({ contentOrigins });
    return [ok("content-origins", contentOrigins.join(" "), source)];
  } catch (thrown) {
    const next =
      source === "profile"
        ? "coffer config set content-origins ORIGINS, such as https://s3.example.com"
        : "set SERVICE_CONTENT_ORIGINS to origins such as https://s3.example.com";
    return [problem("content-origins", thrown instanceof Error ? thrown.message : "unusable", next, source)];
  }
}
