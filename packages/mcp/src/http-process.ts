/** The process that serves HTTP: it holds no key of its own, no chain key and no local folder. */
import { resolveSettings } from "@coffer/sdk/node";
import { createClient } from "@coffer/sdk";
import { TIMEOUTS, type Redaction } from "@coffer/tasks";
import { KeyHolders } from "./key-holders.ts";
import type { HttpLaunch, Launch } from "./launch.ts";
import { FileCallRecord, callRecordDirectory } from "./call-record.ts";
import { createServer, SERVER_VERSION } from "./server.ts";
import { serveHttp, type HttpShell } from "./http.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A sentence for the operator, or the running shell. */
export async function startHttp(
  launch: Launch,
  http: HttpLaunch,
  env: Environment,
  { log, stop, redaction }: { log: (line: string) => void; stop: AbortSignal; redaction: Redaction },
): Promise<HttpShell | string> {
  const settings = await resolveSettings(env, launch.configFile === null ? {} : { configFile: launch.configFile });
  redaction.register(settings.apiKey?.reveal());
  redaction.register(settings.chainPrivateKey?.reveal());
  if (settings.chainPrivateKey !== null)
    return "A server for many holds no chain key: take it out of SERVICE_CHAIN_PRIVATE_KEY or the config file";
  const { baseUrl } = settings;
  if (baseUrl === null) return "There is no address of a service: set SERVICE_BASE_URL";
  const application = `coffer-mcp/${SERVER_VERSION}`;
  const keys = new KeyHolders({
    clientFor: (apiKey) => createClient({ baseUrl, application, timeouts: TIMEOUTS, credentials: { apiKey } }),
  });
  const record = new FileCallRecord(() => callRecordDirectory(env));
  const folders = { folders: [], denied: { folders: [], files: [] } };
  try {
    return await serveHttp({
      http,
      keys,
      log,
      serverFor: ({ keyId, serviceLink, credentialState }) =>
        createServer({
          launch,
          serviceLink,
          folders,
          stop,
          log,
          handOut: null,
          credentialState: credentialState,
          record,
          keyId,
        }),
    });
  } catch (error) {
    return `${http.host}:${String(http.port)} cannot be listened on: ${error instanceof Error ? error.message : ""}`;
  }
}
