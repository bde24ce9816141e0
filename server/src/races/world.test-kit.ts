/** TEST ONLY: where races are run: the whole app on one database, and an account in it. A new one for each interleaving. */
import { createHash } from "node:crypto";
import { MAX_FOLDER_DEPTH } from "@coffer/contract";
import type { Environment } from "../config.ts";
import { verifyAccount } from "../features/audit/verify.ts";
import type { Database } from "../ports/database.ts";
import type { FolderRow, Tables } from "../ports/tables.ts";
import { TestReceiver } from "./receiver.test-kit.ts";
import { openTestApp, type TestAnswer, type TestApp, type TestCall } from "../app.test-kit.ts";

type Method = Parameters<TestApp["ask"]>[0];
type Body = Record<string, { id: string }> & { id: string };

export interface Owner {
  readonly id: string;
  readonly key: string;
}

export interface World extends Owner {
  readonly app: TestApp;
  /** With the account's key unless another is given. Rejects with what is the service's fault. */
  ask(method: Method, url: string, call?: TestCall): Promise<TestAnswer>;
  /** The body of an answer that must be a success. */
  make(method: Method, url: string, call?: TestCall): Promise<Body>;
  /** The id of a new file with five bytes. */
  file(name: string, place?: string): Promise<string>;
  folder(name: string, parentId?: string): Promise<string>;
  rows<Table extends keyof Tables>(table: Table): Promise<Tables[Table][]>;
}

/** Opens the app once; what it answers makes a world with a new account. */
export async function openWorlds(
  database: Database,
  environment: Environment,
): Promise<AsyncDisposable & { next(): Promise<World> }> {
  const app = await openTestApp({ environment, replace: () => ({ database, webhookSender: new TestReceiver() }) });
  return {
    next: async () => worldOf(app, await app.signUp()),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

function worldOf(app: TestApp, owner: Owner): World {
  const ask: World["ask"] = async (method, url, call = {}) => {
    const answer = await app.ask(method, url, { key: owner.key, ...call });
    if (answer.status >= 500) throw new Error(`${method} ${url}: ${answer.text} ${newestFault(app)}`);
    return answer;
  };
  const make: World["make"] = async (method, url, call) => {
    const answer = await ask(method, url, call);
    if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.text}`);
    return answer.body as Body;
  };
  return {
    ...owner,
    app,
    ask,
    make,
    file: async (name, place = "") =>
      (await make("POST", `/api/files?name=${name}${place}`, { payload: "12345" }))["file"]?.id ?? "",
    folder: async (name, parentId) =>
      (await make("POST", "/api/folders", { json: { name, ...(parentId === undefined ? {} : { parentId }) } }))[
        "folder"
      ]?.id ?? "",
    rows: (table) => {
      const { database } = app.deps;
      const { build } = database;
      const query = build.selectFrom(table as "files").selectAll();
      const vaults = build.selectFrom("vaults").select("id").where("account_id", "=", owner.id);
      const own =
        table === "file_versions" ? query.where("vault_id", "in", vaults) : query.where("account_id", "=", owner.id);
      return database.all(own) as Promise<never[]>;
    },
  };
}

/** What the log says of the newest answer that was the service's fault. */
function newestFault(app: TestApp): string {
  const line =
    app
      .logged()
      .split("\n")
      .findLast((each) => each.includes('"fault"')) ?? "{}";
  return (JSON.parse(line) as { error?: { message: string } }).error?.message ?? "";
}

export function hold(isTrue: boolean, what: string): asserts isTrue {
  if (!isTrue) throw new Error(what);
}

/** The invariants of an account, after any acts in any order. */
export async function requireWhole(world: World): Promise<void> {
  await requireCounted(world);
  requireTrees(await world.rows("folders"));
  await requirePlaces(world);
  await requireBytes(world);
  const check = await world.app.deps.database.snapshot((queries) => verifyAccount(queries, world.id));
  hold(check?.fault === null, `the audit chain: ${JSON.stringify(check)}`);
}

async function requireCounted(world: World): Promise<void> {
  const { database, clock, settings } = world.app.deps;
  const account = await database.first(
    database.build
      .selectFrom("accounts")
      .select(["usage_bytes", "usage_files", "usage_version_bytes"])
      .where("id", "=", world.id),
  );
  const files = await world.rows("files");
  const kept = (await world.rows("file_versions")).reduce((sum, { charged }) => sum + charged, 0);
  const bytes = files.reduce((sum, { size }) => sum + size, 0) + kept;
  hold(account?.usage_bytes === bytes, `usage ${account?.usage_bytes}, of files and versions ${bytes}`);
  hold(account.usage_version_bytes === kept, `usage of versions ${account.usage_version_bytes}, of versions ${kept}`);
  hold(account.usage_files === files.length, `usage of files ${account.usage_files}, there are ${files.length}`);
  hold(bytes <= settings.plans.pro.storageBytes, `${bytes} bytes are stored`);
  hold((await world.rows("upload_holds")).length === 0, "an upload that is over holds room");
  const isLive = (row: { expires_at: number | null; revoked_at: number | null }) =>
    row.revoked_at === null && (row.expires_at === null || row.expires_at > clock.now());
  const invites = (await world.rows("invites")).filter(({ used_at }) => used_at === null);
  const counts = {
    apiKeys: (await world.rows("api_keys")).filter(isLive).length,
    invites: invites.filter(isLive).length,
    vaults: (await world.rows("vaults")).length,
    webhooks: (await world.rows("webhooks")).length,
  };
  for (const [name, count] of Object.entries(counts))
    hold(count <= settings.limits[name as keyof typeof counts], `${count} ${name}`);
}

function requireTrees(folders: readonly FolderRow[]): void {
  const byId = new Map(folders.map((row) => [row.id, row]));
  for (const row of folders) {
    let depth = 1;
    for (let above = row; above.parent_id !== null; depth += 1) {
      hold(depth <= folders.length, `${row.name} lies within itself`);
      const parent = byId.get(above.parent_id);
      hold(parent?.vault_id === row.vault_id, `${row.name} lies in another vault`);
      above = parent;
    }
    hold(row.depth === depth, `${row.name} lies ${depth} deep, and says ${row.depth}`);
    hold(row.trashed_at !== null || depth <= MAX_FOLDER_DEPTH, `${row.name} lies ${depth} deep`);
  }
}

/** Live items have live parents. */
async function requirePlaces(world: World): Promise<void> {
  const folders = new Map((await world.rows("folders")).map((row) => [row.id, row]));
  const inFolder = [...folders.values()].map((row) => ({ ...row, folder_id: row.parent_id }));
  for (const row of [...(await world.rows("files")), ...inFolder]) {
    if (row.trashed_at !== null || row.folder_id === null) continue;
    const folder = folders.get(row.folder_id);
    hold(folder?.trashed_at === null, `${row.name} is live, and lies in the trash`);
    hold(folder.vault_id === row.vault_id, `${row.name} lies in another vault than its folder`);
  }
}

/** Every file and every kept version has its bytes, and nobody is going to delete them. */
async function requireBytes(world: World): Promise<void> {
  const { database, blobs } = world.app.deps;
  const kept = (await world.rows("file_versions")).map((row) => ({ ...row, name: `version ${row.number}` }));
  for (const { name, blob_key: key, sha256, size } of [...(await world.rows("files")), ...kept]) {
    for (const table of ["blob_deletions", "blob_quarantine"] as const) {
      const queued = database.build.selectFrom(table).select("blob_key").where("blob_key", "=", key);
      hold((await database.first(queued)) === null, `the bytes of ${name} are about to be deleted`);
    }
    const stream = await blobs.open(key);
    hold(stream !== null, `the bytes of ${name} are gone`);
    const hash = createHash("sha256");
    let length = 0;
    for await (const chunk of stream) {
      hash.update(chunk);
      length += chunk.length;
    }
    hold(length === size && hash.digest("hex") === sha256, `the bytes of ${name} are others`);
  }
}
