import { dirname } from "node:path";
import { configurationError, lockedError } from "../../http/errors.ts";
import { sessionCredentials, type SessionCredentials } from "../../connection/session-credentials.ts";
import { configFile, readConfig, writeConfig } from "./config.ts";
import { makePrivateDirectory } from "../store/durable-file.ts";
import { acquireLock } from "../store/lock-file.ts";
import type { SessionLock } from "../../connection/web-session.ts";

/** Longer than a refresh may take: a waiting process then finds the new pair in the file. */
const LOCK_WAIT_MS = 60_000;

/**
 * The web session of a profile as a credential. A new pair of tokens is in the file, durably, before it is used.
 * Processes that share the file refresh one at a time. Null when the profile has none. A session that the service
 * refuses stays in the file.
 *
 * @example
 * ```ts
 * const session = await savedSession("default");
 * if (session !== null) await createClient({ baseUrl, credentials: session }).account.get();
 * ```
 */
export async function savedSession(profile: string, file: string = configFile()): Promise<SessionCredentials | null> {
  const load = async () => (await readConfig(file))?.profiles[profile]?.session ?? null;
  const stored = await load();
  if (stored === null) return null;
  return sessionCredentials({
    ...stored,
    lock: fileLock(file, profile),
    store: {
      load,
      save: async (session) => {
        const known = (await readConfig(file))?.profiles[profile];
        // Signed out, or removed, meanwhile: do not put it back.
        if (known?.session == null) throw configurationError(`The profile "${profile}" has no session any more`);
        await writeConfig({ profiles: { [profile]: { ...known, session } } }, file);
      },
    },
  });
}

function fileLock(file: string, profile: string): SessionLock {
  return async (work) => {
    await makePrivateDirectory(dirname(file));
    await using lock = await acquireLock(`${file}.${profile}.session.lock`, LOCK_WAIT_MS);
    if (lock === null) throw lockedError("Another process keeps the session locked");
    return await work();
  };
}
