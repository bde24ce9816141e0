/**
 * Idempotency-Key on every POST that creates, and on every change of a file or folder (decisions §1,
 * draft-ietf-httpapi-idempotency-key-header-07; encryption design §9.3). A key is reserved before the handler runs. The handler's own transaction turns the reservation into the kept answer
 * (docs/decisions/0007-idempotency-commits-with-the-effect.md). So after a crash a repeat either replays or runs for
 * the first time.
 */
import { hash } from "node:crypto";
import { type EndpointDefinition, HEADERS, MAX_IDEMPOTENCY_KEY } from "@coffer/contract";
import type { Deps } from "../deps.ts";
import { completeRow, deleteRow, findRow, insertRow } from "../features/idempotency/store.ts";
import { isTaken, type Queries } from "../ports/database.ts";
import { type Lease, type Leases, openLeases } from "../ports/leases.ts";
import type { IdempotencyRow } from "../ports/tables.ts";
import { ServiceError } from "../service-error.ts";
import type { RenderedAnswer } from "./output.ts";

/** What a repeat must agree in. A byte body counts by length and media type: it cannot be read twice. */
export interface Payload {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly body: string;
  /** What the caller may do: a kept answer must not reach a key of the account that could not have caused it. */
  readonly rights: string;
}

export interface Reservation {
  /** Turns the reservation into the kept answer; part of the effect's transaction. Rejects when it was taken over. */
  complete(transaction: Queries, answer: RenderedAnswer): Promise<void>;
  /** The request is over. After a failure the key is free again; what was completed stays. */
  end(outcome: "answered" | "failed"): Promise<void>;
}

export type Outcome =
  | { readonly kind: "reserved"; readonly reservation: Reservation }
  | { readonly kind: "replay"; readonly answer: RenderedAnswer };

export interface Idempotency {
  /** Rejects with `idempotency_in_progress`, `idempotency_mismatch` or `already_created`. */
  reserve(endpoint: EndpointDefinition, accountId: string, key: string, payload: Payload): Promise<Outcome>;
  /** After the last request: others need not wait for this process's lease to run out. */
  close(): Promise<void>;
}

interface Slot {
  readonly accountId: string;
  readonly key: string;
  readonly owner: string;
}

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings">;

export function createIdempotency(deps: Needs): Idempotency {
  const running = new RunningOwners(deps.random.uuid(), openLeases(deps));
  return {
    async reserve(endpoint, accountId, key, payload) {
      requireKeyForm(key);
      const fingerprint = fingerprintOf(payload);
      const slot = { accountId, key, owner: running.add(deps.random.uuid()) };
      try {
        await running.vouch();
        const kept = await acquireSlot(deps, slot, running, fingerprint);
        if (kept === null) return { kind: "reserved", reservation: createReservation(deps, endpoint, slot, running) };
        running.delete(slot.owner);
        return { kind: "replay", answer: replay(kept, fingerprint) };
      } catch (error) {
        running.delete(slot.owner);
        throw error;
      }
    },
    close: () => running.close(),
  };
}

/**
 * Distinguishes a request that is still running from one that a crash has cut off. A process with reservations holds a
 * lease, which lasts as long as the process, however long its requests take. A mistake costs work, never a second
 * effect.
 */
class RunningOwners {
  readonly #instance: string;
  readonly #leases: Leases;
  readonly #running = new Set<string>();
  #lease: Promise<Lease | null> = Promise.resolve(null);

  constructor(instance: string, leases: Leases) {
    this.#instance = instance;
    this.#leases = leases;
  }

  add(request: string): string {
    const owner = `${this.#instance}/${request}`;
    this.#running.add(owner);
    return owner;
  }

  delete(owner: string): void {
    this.#running.delete(owner);
  }

  /** Before anything is reserved other processes can see that this one runs. */
  async vouch(): Promise<void> {
    const current = this.#lease;
    const lease = await current.catch(() => null);
    if (lease !== null && !lease.signal.aborted) return;
    if (this.#lease === current) this.#lease = this.#leases.acquire(leaseOf(this.#instance));
    await this.#lease;
  }

  async close(): Promise<void> {
    const lease = await this.#lease.catch(() => null);
    // A database that is away keeps the lease until it runs out.
    await lease?.release().catch(() => undefined);
  }

  /** This process's own lease. */
  async isRunning(queries: Queries, { owner }: IdempotencyRow): Promise<boolean> {
    const [instance = ""] = owner.split("/");
    return instance === this.#instance ? this.#running.has(owner) : this.#leases.isHeld(queries, leaseOf(instance));
  }
}

function leaseOf(instance: string): string {
  return `requests:${instance}`;
}

/** Null when the slot is now ours, else the row that holds it. */
async function acquireSlot(
  deps: Needs,
  slot: Slot,
  running: RunningOwners,
  fingerprint: string,
): Promise<IdempotencyRow | null> {
  try {
    return await deps.database.transaction(async (transaction) => {
      const row = await transaction.first(findRow(transaction, { accountId: slot.accountId, key: slot.key }));
      const now = deps.clock.now();
      const isVacant =
        row === null ||
        row.expires_at <= now ||
        (row.state === "running" && !(await running.isRunning(transaction, row)));
      if (!isVacant) return row;
      if (row !== null) {
        await transaction.run(deleteRow(transaction, { ...slot, owner: row.owner, state: row.state }));
      }
      const expiresAt = now + deps.settings.timing.idempotency;
      await transaction.run(insertRow(transaction, { ...slot, fingerprint, now, expiresAt }));
      return null;
    });
  } catch (error) {
    // Two processes inserted at the same time, and the other one won.
    if (isTaken(error)) throw new ServiceError("idempotency_in_progress", undefined, { cause: error });
    throw error;
  }
}

function createReservation(deps: Needs, endpoint: EndpointDefinition, slot: Slot, running: RunningOwners): Reservation {
  return {
    async complete(transaction, answer) {
      const changed = await transaction.run(completeRow(transaction, { ...slot, ...keptPartOf(endpoint, answer) }));
      if (changed !== 1) throw new ServiceError("idempotency_in_progress");
    },
    async end(outcome) {
      running.delete(slot.owner);
      if (outcome === "failed") await deps.database.run(deleteRow(deps.database, { ...slot, state: "running" }));
    },
  };
}

/** A raw key or secret is never kept: only where the thing that was created is found. */
function keptPartOf(endpoint: EndpointDefinition, answer: RenderedAnswer) {
  const resource = answer.headers["Location"] ?? null;
  if (endpoint.secretResponse === true) return { status: answer.status, headers: "{}", body: null, resource };
  const body = typeof answer.body === "string" ? answer.body : null;
  return { status: answer.status, headers: JSON.stringify(answer.headers), body, resource };
}

function replay(row: IdempotencyRow, fingerprint: string): RenderedAnswer {
  if (row.fingerprint !== fingerprint) throw new ServiceError("idempotency_mismatch");
  if (row.state !== "done" || row.status === null) throw new ServiceError("idempotency_in_progress");
  const headers = JSON.parse(row.headers_json ?? "{}") as Record<string, string>;
  if (row.body === null && row.resource !== null && row.headers_json === "{}") throw alreadyCreated(row.resource);
  return { status: row.status, headers: { ...headers, [HEADERS.idempotentReplay]: "true" }, body: row.body };
}

function alreadyCreated(resource: string): ServiceError {
  const id = resource.slice(resource.lastIndexOf("/") + 1);
  return new ServiceError(
    "already_created",
    `This key was used before and created ${id}; its secret is shown only once`,
    {
      headers: { Location: resource },
    },
  );
}

function fingerprintOf({ method, url, body, rights }: Payload): string {
  return hash("sha256", JSON.stringify([method, url, body, rights]), "hex");
}

/** 1 to 255 visible ASCII characters; the draft's quoted string form counts with its quotes. */
function requireKeyForm(key: string): void {
  if (key.length <= MAX_IDEMPOTENCY_KEY && /^[\x21-\x7e]+$/.test(key)) return;
  throw new ServiceError(
    "validation_failed",
    `headers.idempotency-key: must be 1 to ${MAX_IDEMPOTENCY_KEY} visible ASCII characters`,
  );
}
