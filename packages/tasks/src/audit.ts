/** Entries of the audit log by one actor, or since a time. The service filters by the action alone. */
import type { AuditEvent } from "@coffer/sdk";
import type { Task } from "./task.ts";

export interface AuditQuery {
  /** RFC 3339; null: all. */
  readonly since: string | null;
  /** Id of a key, 8 or more digits of one, or a chain address; null: anyone. */
  readonly by: string | null;
  /** `api_key.created`, or `api_key` for all that begin with it. */
  readonly action?: string;
  readonly limit: number;
  readonly cursor: string | null;
  /** Rows of the first page that were shown before. */
  readonly skip: number;
  /** Pages of the log that are looked at for rows that match. */
  readonly mostPages: number;
}

export interface AuditPage {
  readonly events: readonly AuditEvent[];
  /** null: there is no more. */
  readonly nextCursor: string | null;
}

/** Newest first. */
export async function readAudit(task: Task, query: AuditQuery): Promise<AuditPage> {
  const client = await task.client();
  const { since, action, limit, mostPages } = query;
  const by = query.by?.trim().toLowerCase() ?? null;
  const rows: AuditEvent[] = [];
  let { cursor, skip } = query;
  let isOver = false;
  for (let page = 0; page < mostPages && rows.length < limit && !isOver; page += 1) {
    const pageQuery = {
      limit: Math.min(1_000, limit - rows.length + skip),
      ...(cursor === null ? {} : { cursor }),
      ...(action === undefined ? {} : { action }),
    };
    const { events, nextCursor } = await client.audit.list(pageQuery, { signal: task.signal });
    const young = events.slice(skip).filter(({ occurredAt }) => since === null || occurredAt >= since);
    rows.push(...young.filter((event) => by === null || isBy(event, by)));
    isOver = nextCursor === null || young.length < events.length - skip;
    cursor = nextCursor;
    skip = 0;
  }
  return { events: rows, nextCursor: isOver ? null : cursor };
}

function isBy({ actor }: AuditEvent, actorId: string): boolean {
  return actor.chainAddress === actorId || (actorId.length >= 8 && (actor.id?.startsWith(actorId) ?? false));
}
