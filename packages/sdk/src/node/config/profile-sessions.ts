/** The web sessions of a configuration's profiles. They are in the profile store beside it: tokens change by themselves, and people edit config.json. */
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { readSessions, replaceSession, writeSessions, type BoundSession } from "../../connection/session-table.ts";
import type { SessionLock, StoredSession } from "../../connection/web-session.ts";
import { lockedError } from "../../http/errors.ts";
import type { ProfileStore } from "../../store/profile-store.ts";
import { fileStore } from "../store/file-store.ts";

/** Longer than a refresh may take: a waiting process then finds the new pair in the store. */
const LOCK_WAIT_MS = 60_000;

/** The name of a profile, and its session with the address of its service; null: none from now on. */
export type ProfileSession = readonly [
  profile: string,
  kept: { readonly baseUrl: string; readonly session: StoredSession } | null,
];

export class ProfileSessions {
  readonly #store: ProfileStore;
  readonly #file: string;

  /** `file`: the configuration. Several may share a directory. */
  constructor(file: string) {
    this.#store = fileStore(join(dirname(file), "store"));
    this.#file = basename(file);
  }

  /** The session of a profile whose service has that address; null: there is none. */
  async reader(): Promise<(profile: string, baseUrl: string) => StoredSession | null> {
    const sessions = await readSessions(this.#store);
    return (profile, baseUrl) => {
      const bound = sessions.get(this.#nameOf(profile));
      return bound?.origin === originOf(baseUrl) ? bound.session : null;
    };
  }

  async write(sessions: readonly ProfileSession[]): Promise<void> {
    const bound = sessions.map(([profile, kept]): [string, BoundSession | null] => [
      this.#nameOf(profile),
      kept === null ? null : { origin: originOf(kept.baseUrl), session: kept.session },
    ]);
    if (bound.length > 0) await writeSessions(this.#store, new Map(bound));
  }

  /** False: the session was forgotten meanwhile. */
  async replace(profile: string, session: StoredSession): Promise<boolean> {
    return await replaceSession(this.#store, this.#nameOf(profile), session);
  }

  /** Lets one process at a time refresh the session. */
  lockOf(profile: string): SessionLock {
    const name = `session-${createHash("sha256").update(this.#nameOf(profile)).digest("hex")}`;
    return async (work) => {
      await using lock = await this.#store.lock(name, LOCK_WAIT_MS);
      if (lock === null) throw lockedError("Another process keeps the session locked");
      return await work();
    };
  }

  #nameOf(profile: string): string {
    return `${this.#file} ${profile}`;
  }
}

function originOf(baseUrl: string): string {
  return URL.parse(baseUrl)?.origin ?? baseUrl;
}
