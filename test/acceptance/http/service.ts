/** A development server of its own for one test file, and the short ways to talk to it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { fieldsOf, signUp, type NewAccount } from "../kit/account.ts";
import { runSql } from "../kit/data-directory.ts";
import { send, type Answer, type Call } from "../kit/http.ts";
import { startServerProcess, type ServerProcess } from "../kit/server-process.ts";

/** Filled before the first test of the file. */
export interface Service {
  readonly server: ServerProcess;
  readonly dataDirectory: string;
  /** The first account of the database. */
  readonly owner: NewAccount;
  /** A request with the owner's key, unless `call` brings its own; `key: ""` sends none. */
  ask(method: string, path: string, call?: Call): Promise<Answer>;
  /** Gives an API key a chain address, which makes it an agent's (specification §2.6); there is no public way yet. */
  makeAgentKey(keyId: string): Promise<void>;
}

/** Starts the server before the tests of a file and stops it after them. */
export function useService(variables: Readonly<Record<string, string>> = {}): () => Service {
  let service: Service | null = null;
  const cleanup = new AsyncDisposableStack();
  beforeAll(async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), "coffer-acceptance-"));
    cleanup.defer(() => rm(dataDirectory, { recursive: true, force: true }));
    const environment = { SERVICE_ENV: "development", SERVICE_DATA_DIR: dataDirectory, ...variables };
    const server = cleanup.use(await startServerProcess(environment));
    const owner = await signUp(server.baseUrl);
    service = openService(server, dataDirectory, owner);
  }, 60_000);
  afterAll(() => cleanup.disposeAsync(), 60_000);
  return () => {
    if (service === null) throw new Error("the service is used before its tests began");
    return service;
  };
}

function openService(server: ServerProcess, dataDirectory: string, owner: NewAccount): Service {
  return {
    server,
    dataDirectory,
    owner,
    ask(method, path, { key = owner.apiKey, ...call } = {}) {
      return send(server.baseUrl, path, { method, ...call, ...(key === "" ? {} : { key }) });
    },
    makeAgentKey(keyId) {
      const address = `0x${"a".repeat(64)}`;
      return runSql(dataDirectory, "UPDATE api_keys SET chain_address = ? WHERE id = ?", address, keyId);
    },
  };
}

/** The fields of an answer with the expected status; the failure shows the body. */
export function fieldsAt(answer: Answer, status: number): Readonly<Record<string, unknown>> {
  expectStatus(answer, status);
  return fieldsOf(answer);
}

/** Says what the server said when the status is another. */
export function expectStatus(answer: Answer, status: number): void {
  expect(answer.status, new TextDecoder().decode(answer.bytes.subarray(0, 500))).toBe(status);
}

/** Exactly `{ error: string }` (specification §7), with the machine code in its header. */
export function expectError(answer: Answer, status: number, code: string): string {
  const fields = fieldsAt(answer, status);
  expect(Object.keys(fields)).toEqual(["error"]);
  expect(answer.headers.get("x-error-code")).toBe(code);
  expect(fields["error"]).toEqual(expect.stringMatching(/./));
  return String(fields["error"]);
}

/** The object at `name`. */
export function objectIn(fields: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  const value = fields[name];
  expect(value).toBeTypeOf("object");
  return value as Readonly<Record<string, unknown>>;
}

/** The objects of the list at `name`. */
export function listIn(
  fields: Readonly<Record<string, unknown>>,
  name: string,
): readonly Readonly<Record<string, unknown>>[] {
  const value = fields[name];
  expect(value).toBeInstanceOf(Array);
  return value as readonly Readonly<Record<string, unknown>>[];
}

/** The text at `name`. */
export function textIn(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = fields[name];
  expect(value).toBeTypeOf("string");
  return value as string;
}

/** RFC 3339 UTC with milliseconds (decisions §1). */
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
