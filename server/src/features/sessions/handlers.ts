import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { GroupHandlers } from "../../handler.ts";
import { actOnFullDisk } from "../account/act.ts";
import { notFound } from "../acting.ts";
import { parsePage, toPage } from "../paging.ts";
import { endOneSession } from "./ending.ts";
import { toSession } from "./rules.ts";
import { findSession, listSessions } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random">;

export const sessionsHandlers = (deps: Needs): GroupHandlers<typeof api.sessions> => ({
  async list({ query }, { principal }) {
    const { accountId, sessionId } = principal;
    const request = parsePage("sessions", query);
    const found = await listSessions(deps.database, { accountId, now: deps.clock.now() }, request);
    const { rows, nextCursor } = toPage(found, request);
    return { sessions: rows.map((row) => toSession(row, sessionId)), nextCursor };
  },

  async end({ params }, { principal, origin }) {
    const { accountId } = principal;
    const { sessionId } = params;
    // Ending a session that is in wrong hands must work on a full disk too.
    await actOnFullDisk(deps, principal, async (act) => {
      const row = await act.first(findSession(act, { accountId, id: sessionId }));
      if (row === null) throw notFound("Session");
      await endOneSession(deps, act, { sessionId, actor: principal, origin });
    });
  },
});
