import { configurationError } from "../../http/errors.ts";
import { sessionCredentials, type SessionCredentials } from "../../connection/session-credentials.ts";
import { configFile } from "./config-place.ts";
import { readConfig } from "./config.ts";
import { ProfileSessions } from "./profile-sessions.ts";

/**
 * The web session of a profile as a credential. It is in the profile store beside the configuration. A new pair of tokens
 * is there, durably, before it is used. Processes that share the store refresh one at a time. Null when the profile has
 * none for its address. A session that the service refuses stays.
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
  const sessions = new ProfileSessions(file);
  return sessionCredentials({
    ...stored,
    lock: sessions.lockOf(profile),
    store: {
      load,
      save: async (session) => {
        // Signed out, or removed, meanwhile: do not put it back.
        if (!(await sessions.replace(profile, session)))
          throw configurationError(`The profile "${profile}" has no session any more`);
      },
    },
  });
}
