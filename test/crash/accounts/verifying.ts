/** Whether model, database and what HTTP answers agree on accounts, once all is quiet. */
import { sha256Of } from "../../kit/bytes.ts";
import { renderState, type State, type Thing } from "./model.ts";
import type { Rows } from "./rows.ts";
import type { Account, Worker } from "./worker.ts";

export interface Quiet {
  readonly baseUrl: string;
  readonly rows: Rows;
}

/** What is not as the workers of the account know it; empty when all agree. */
export async function verifyAccount(quiet: Quiet, account: Account, workers: readonly Worker[]): Promise<string[]> {
  const findings: string[] = [];
  const expect = (what: string, seen: unknown, wanted: unknown): void => {
    const [is, must] = [JSON.stringify(seen), JSON.stringify(wanted)];
    if (is !== must) findings.push(`${account.id}: ${what} is ${is}, not ${must}`);
  };
  const known: State = workers.flatMap(({ state }) => state);
  const files = known.filter((thing) => thing.kind === "file");
  const usage = { bytes: files.reduce((sum, { size }) => sum + size, 0), files: files.length };

  const row = await quiet.rows.account(account.id);
  expect("the usage in its row", { bytes: row.usageBytes, files: row.usageFiles }, usage);
  expect("the first change's number", row.lowest, 1);
  expect("the last change's number", [row.highest, row.changes], [row.sequence, row.sequence]);
  const changes = workers.flatMap(({ actions }) => actions);
  expect(
    "what the audit log has",
    sorted(await quiet.rows.actions(account.id, account.begunAt)),
    sorted(countsOf(changes)),
  );
  for (const { prefix, state } of workers)
    expect(
      `what the database has of ${prefix}`,
      renderState(await quiet.rows.state(account.id, prefix)),
      renderState(state),
    );

  const ask = asking(quiet.baseUrl, account);
  const answered = await listAll(ask);
  expect("what HTTP answers", renderState(answered), renderState(known));
  const { account: self } = (await (await ask("/api/account")).json()) as {
    account: { usage: { bytes: number; files: number; versionBytes: number } };
  };
  const { versionBytes, ...all } = self.usage;
  expect("the usage that HTTP answers, without versions", { ...all, bytes: all.bytes - versionBytes }, usage);
  for (const { id, name, sha256, trashed } of files) {
    if (trashed) continue;
    const content = await ask(`/api/files/${id}/content`);
    expect(`the content of ${name}`, sha256Of(await content.bytes()), sha256);
  }
  return findings;
}

type Ask = (path: string) => Promise<Response>;

function asking(baseUrl: string, { key }: Account): Ask {
  return (path) => fetch(baseUrl + path, { headers: { authorization: `Bearer ${key}` } });
}

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly folderId: string | null;
  readonly size: number;
  readonly sha256: string;
  readonly trashedAt: string | null;
  readonly revokedAt: string | null;
}

async function listAll(ask: Ask): Promise<State> {
  const toFile = ({ id, name, folderId, size, sha256, trashedAt }: Listed): Thing => ({
    kind: "file",
    id,
    name,
    folderId,
    size,
    sha256,
    trashed: trashedAt !== null,
  });
  const ended = (kind: "key" | "invite", all: readonly Listed[]): Thing[] =>
    all.map(({ id, name, revokedAt }) => ({ kind, id, name, ended: revokedAt !== null }));
  const keys = await list(ask, "/api/auth/api-keys", "apiKeys");
  return [
    ...(await list(ask, "/api/files", "files")).map(toFile),
    ...(await list(ask, "/api/trash", "files")).map(toFile),
    ...(await list(ask, "/api/folders", "folders")).map(({ id, name }): Thing => ({ kind: "folder", id, name })),
    ...ended("key", keys).filter(({ name }) => name !== "dev-signup"),
    ...ended("invite", await list(ask, "/api/auth/invites", "invites")),
  ];
}

async function list(ask: Ask, path: string, field: string): Promise<Listed[]> {
  const all: Listed[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const answer = await ask(`${path}?limit=100${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`);
    const page = (await answer.json()) as Record<string, unknown> & { nextCursor: string | null };
    all.push(...(page[field] as Listed[]));
    cursor = page.nextCursor;
  }
  return all;
}

function countsOf(actions: readonly string[]): ReadonlyMap<string, number> {
  return new Map([...Map.groupBy(actions, (action) => action)].map(([action, all]) => [action, all.length]));
}

function sorted(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([a], [b]) => a.localeCompare(b));
}
