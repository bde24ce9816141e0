/** Processes of a client that die at one of their calls to the outside: what the next one finds is what is on disk by then. */
import { cpSync, rmSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client, Middleware } from "@coffer/sdk";
import { vaultStores } from "@coffer/sdk/shared";
import { fileStore } from "@coffer/sdk/node";
import type { SharedPerson, SharedStack } from "./shared-stack.ts";

/** A call to the service, to the chain's node or to a key server. */
export interface OutsideCall {
  /** The endpoint's id, `node <method>` or `key server <number>`. */
  readonly name: string;
  /** Among all calls of the process, and among those of the same name, from 1. */
  readonly at: number;
  readonly nth: number;
}

/** Where in its life a process dies. */
export interface Death {
  isAt(call: OutsideCall): boolean;
  /** The call was carried out and its answer was lost; otherwise it was never sent. */
  readonly isAnswerLost: boolean;
}

export interface Life<Result> {
  /** What was called, in order, as far as the process came. */
  readonly calls: readonly string[];
  /** Those among them, counted from 1, that may change something outside. */
  readonly changes: readonly number[];
  /** null: the process died. */
  readonly result: { readonly value: Result } | null;
}

/** The disk of one machine, and the processes that run there one after the other. */
export interface Machine extends AsyncDisposable {
  /** Everything that processes keep; another directory after each death. */
  readonly home: string;
  /**
   * Runs `act` in a new process, which knows nothing but what is on disk. Nothing of a process runs after its death, not even what would tidy
   * up: its calls never answer.
   */
  live<Result>(
    person: SharedPerson,
    act: (client: Client, home: string) => Promise<Result>,
    death?: Death,
  ): Promise<Life<Result>>;
}

export async function openMachine({ localnet }: Pick<SharedStack, "localnet">): Promise<Machine> {
  const root = await mkdtemp(join(tmpdir(), "coffer-machine-"));
  let lives = 0;
  let home = join(root, "0");
  return {
    get home() {
      return home;
    },
    live: async (person, act, death) => {
      const keep = (): void => {
        lives += 1;
        const next = join(root, String(lives));
        copyDisk(home, next);
        home = next;
      };
      const line = openLine(localnet.fetch, death, keep);
      const living = act(person.another(optionsAt(home, line)), home);
      living.catch(() => undefined);
      const result = await Promise.race([living.then((value) => ({ value })), line.died]);
      return { calls: line.calls, changes: line.changes, result };
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

function optionsAt(home: string, line: Line) {
  const { pins, creations, uploads } = vaultStores(fileStore(home));
  return {
    retry: { limit: 0 },
    middleware: [line.middleware],
    shared: {
      fetch: line.fetch,
      pins,
      creations,
      uploads,
    },
  };
}

interface Line {
  readonly calls: string[];
  readonly changes: number[];
  readonly died: Promise<null>;
  readonly middleware: Middleware;
  readonly fetch: typeof fetch;
}

function openLine(carry: typeof fetch, death: Death | undefined, keep: () => void): Line {
  const calls: string[] = [];
  const changes: number[] = [];
  const { promise: died, resolve } = Promise.withResolvers<null>();
  let isDead = false;
  /** Its promise is the call that never answers. */
  const die = (): Promise<never> => {
    if (!isDead) keep();
    isDead = true;
    resolve(null);
    return new Promise(() => undefined);
  };
  const call = async (name: string, isChange: boolean, send: () => Promise<Response>): Promise<Response> => {
    if (isDead) return die();
    const at = calls.push(name);
    if (isChange) changes.push(at);
    const nth = calls.filter((other) => other === name).length;
    const isLast = death !== undefined && death.isAt({ name, at, nth });
    if (isLast && !death.isAnswerLost) return die();
    const answer = await send();
    if (!isDead && !isLast) return answer;
    await answer.body?.cancel();
    return die();
  };
  return {
    calls,
    changes,
    died,
    middleware: (request, next, { endpointId }) => call(endpointId, request.method !== "GET", () => next(request)),
    fetch: (input, init) => {
      const request = new Request(input, init);
      const path = new URL(request.url).pathname.split("/");
      const isKeyServer = path[1] === "key-servers";
      const name = isKeyServer ? `key server ${path[2] ?? ""}` : `node ${path.at(-1) ?? ""}`;
      return call(name, name === "node ExecuteTransaction", () => carry(request));
    },
  };
}

/** As it is at this instant. A dead process holds no locks: the next one would find that nobody has its id any more. */
function copyDisk(from: string, to: string): void {
  try {
    cpSync(from, to, { recursive: true });
  } catch (error) {
    // Nothing was ever written.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw error;
  }
  for (const entry of readdirSync(to, { recursive: true, withFileTypes: true }))
    if (/\.lock(\.|$)/.test(entry.name)) rmSync(join(entry.parentPath, entry.name), { recursive: true, force: true });
}
