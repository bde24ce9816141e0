/** TEST ONLY: every list of the contract, asked with each of its filters: alone, with each other one, and from its second page on. */
import { randomUUID } from "node:crypto";
import { api, endpointsOf } from "@coffer/contract";
import type { Principal } from "../handler.ts";
import { apiKeysHandlers } from "../features/api-keys/handlers.ts";
import { auditHandlers } from "../features/audit/handlers.ts";
import { changesHandlers } from "../features/events/changes.ts";
import { Heads } from "../features/events/heads.ts";
import { OpenFeeds } from "../features/events/open-feeds.ts";
import { indexOf } from "../features/files/shared-files.test-kit.ts";
import { invitesHandlers } from "../features/invites/handlers.ts";
import { sessionsHandlers } from "../features/sessions/handlers.ts";
import { answerOf, contextOf, storeFile, type TestService } from "../features/service.test-kit.ts";
import { webhooksHandlers } from "../features/webhooks/handlers.ts";
import { createLimits } from "../limits/limits.ts";
import { ServiceError } from "../service-error.ts";

/** The filters of lists, by the id of their endpoint. */
export type Filters = Readonly<Record<string, readonly string[]>>;

const OF_EVERY_LIST = ["limit", "cursor"];

/** What the contract says: a list is what has pages. */
export function filtersOfContract(): Filters {
  const lists: Record<string, string[]> = {};
  for (const { id, query } of endpointsOf(api)) {
    const names = Object.keys((query as { shape?: Record<string, unknown> } | undefined)?.shape ?? {});
    if (OF_EVERY_LIST.every((name) => names.includes(name)))
      lists[id] = names.filter((name) => !OF_EVERY_LIST.includes(name)).sort();
  }
  return lists;
}

/** Some values of each filter. */
type Values = Readonly<Record<string, readonly unknown[]>>;
type Query = Readonly<Record<string, unknown>>;
interface List {
  readonly filters: Values;
  readonly ask: (query: Query, context: ReturnType<typeof contextOf>) => Promise<unknown>;
}

export interface Asked {
  readonly callers: readonly Principal[];
  readonly vaultId: string;
  readonly folderId: string;
  readonly keyId: string;
  /** One that has been replaced and renamed. */
  readonly fileId: string;
}

/** Returns the filters that it asked for, each in a query that was not refused. */
export async function askEveryList(living: TestService, asked: Asked): Promise<Filters> {
  const lists = await listsOf(living, asked);
  const answered: Record<string, string[]> = {};
  for (const [id, list] of Object.entries(lists)) {
    const names = new Set<string>();
    for (const query of queriesOf(list.filters))
      for (const caller of [...asked.callers, living.owner])
        if (await askPages(list, query, caller)) for (const name of Object.keys(query)) names.add(name);
    answered[id] = [...names].sort();
  }
  return answered;
}

/** None, each value of each filter, and each of two filters together. */
function* queriesOf(filters: Values): Generator<Query> {
  yield {};
  const all = Object.entries(filters).flatMap(([name, values]) => values.map((value) => ({ name, value })));
  for (const [at, one] of all.entries()) {
    yield { [one.name]: one.value };
    for (const other of all.slice(at + 1))
      if (other.name !== one.name) yield { [one.name]: one.value, [other.name]: other.value };
  }
}

/** A long page, and two of one row each. False: the caller may not ask for that. */
async function askPages({ ask }: List, query: Query, caller: Principal): Promise<boolean> {
  const context = contextOf(caller);
  try {
    await ask(query, context);
    const first = answerOf((await ask({ ...query, limit: 1 }, context)) as { nextCursor: string | null });
    if (first.nextCursor !== null) await ask({ ...query, limit: 1, cursor: first.nextCursor }, context);
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

async function listsOf(
  living: TestService,
  { callers, vaultId, folderId, keyId, fileId }: Asked,
): Promise<Readonly<Record<string, List>>> {
  const { handlers } = living;
  const [owner] = callers;
  if (owner === undefined) throw new Error("nobody asks");
  const webhookId = await addWebhook(living, owner);
  const folder = answerOf(
    await handlers.folders.create({ body: { name: "of a public vault", parentId: null } }, contextOf(living.owner)),
  ).folder;
  await storeFile(living, "first of a public vault", { folderId: folder.id });
  const limits = createLimits(living.settings.rates, living.clock);
  const deps = { ...living, limits };
  // Lists send nothing, and open no secret.
  const others = {
    apiKeys: apiKeysHandlers(deps),
    audit: auditHandlers(deps),
    changes: changesHandlers({ ...living, feeds: new OpenFeeds(), heads: new Heads(living) }),
    invites: invitesHandlers(deps),
    sessions: sessionsHandlers(deps),
    webhooks: webhooksHandlers(deps as unknown as Parameters<typeof webhooksHandlers>[0]),
  };
  const list = <Input>(
    handler: (input: Input, context: ReturnType<typeof contextOf>) => unknown,
    { params = {}, filters = {} }: { readonly params?: Query; readonly filters?: Values } = {},
  ): List => ({ filters, ask: async (query, context) => handler({ params, query } as Input, context) });

  const vaults = { vaultId: [vaultId, folder.vaultId] };
  const idPrefix = ["0123abcd", vaultId.slice(0, 8), fileId.slice(0, 8)];
  const named = { name: ["n"], nameIndex: [indexOf(keyId, "first")], trashed: [true, false], idPrefix };
  const by = [owner.keyId ?? randomUUID(), `0x${"1".repeat(64)}`];
  const times = { since: [new Date(0).toISOString()], until: [new Date(living.clock.now()).toISOString()] };
  return {
    "sessions.list": list(others.sessions.list),
    "apiKeys.list": list(others.apiKeys.list),
    "invites.list": list(others.invites.list),
    "vaults.list": list(handlers.vaults.list, {
      filters: { type: ["public", "shared"], shared: [true, false], idPrefix },
    }),
    "vaultKeys.list": list(handlers.vaultKeys.list, { params: { vaultId }, filters: { generation: ["1"] } }),
    "vaultKeys.steps": list(handlers.vaultKeys.steps, { params: { vaultId } }),
    "folders.list": list(handlers.folders.list, {
      filters: { ...vaults, ...named, parentId: [folderId, folder.id, "root"] },
    }),
    "folders.entries": list(handlers.folders.entries, { params: { folderId } }),
    "files.list": list(handlers.files.list, {
      filters: { ...vaults, ...named, folderId: [folderId, folder.id, "root"] },
    }),
    "files.versions": list(handlers.files.versions, { params: { fileId } }),
    "files.entries": list(handlers.files.entries, { params: { fileId } }),
    "files.search": list(handlers.files.search, {
      filters: {
        ...vaults,
        ...times,
        by,
        folderId: [folder.id],
        q: ["first", "first public"],
        type: ["text/plain", "text"],
        minSize: [1],
        maxSize: [1000],
        trashed: [true, false],
      },
    }),
    "trash.list": list(handlers.trash.list, { filters: { ...vaults, kind: ["files", "vaults"] } }),
    "audit.list": list(others.audit.list, { filters: { action: ["file", "file.uploaded"] } }),
    "webhooks.list": list(others.webhooks.list),
    "webhooks.deliveries": list(others.webhooks.deliveries, {
      params: { webhookId },
      filters: { status: ["pending", "delivering", "success", "failed"] },
    }),
    "changes.list": list(others.changes.list, {
      filters: {
        ...vaults,
        ...times,
        by,
        folderId: [folderId],
        after: [1],
        wait: [0],
        kind: ["file", "file.uploaded"],
      },
    }),
  };
}

/** An endpoint of the account, with deliveries. */
async function addWebhook({ database, clock }: TestService, { accountId }: Principal): Promise<string> {
  const { build } = database;
  const now = clock.now();
  const id = randomUUID();
  await database.run(
    build.insertInto("webhooks").values({
      id,
      account_id: accountId,
      url: "https://example.test",
      events_json: '["*"]',
      description: "",
      active: 0,
      secret: "",
      previous_secret: null,
      previous_secret_ends_at: null,
      last_delivery_status: "never",
      last_delivery_at: null,
      failure_count: 0,
      failing_since: null,
      created_at: now,
      updated_at: now,
    }),
  );
  for (const status of ["pending", "success", "success", "failed", "failed"])
    await database.run(
      build.insertInto("webhook_deliveries").values({
        id: randomUUID(),
        webhook_id: id,
        message_id: randomUUID(),
        event: "file.uploaded",
        sequence: 1,
        status,
        payload: "{}",
        trigger: "scheduled",
        attempts: 0,
        max_attempts: 1,
        http_status: 0,
        last_error: "",
        next_attempt_at: null,
        lease_until: null,
        last_attempt_at: null,
        completed_at: null,
        created_at: now,
      }),
    );
  return id;
}
