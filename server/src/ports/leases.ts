/**
 * Leases: what only one process does at a time, whichever machine it runs on. Held by test/suites/leases.ts. A lease is a
 * row, so every engine behind the database port has them (docs/decisions/0031-leases.md).
 */
import type { Clock } from "./clock.ts";
import { clockOf, type Database, prepared, type Queries } from "./database.ts";
import type { Random } from "./random.ts";
import { CLOCK_SLACK } from "./stored-ends.ts";

export interface Lease {
  /** Grows with every holder of the name. */
  readonly fence: number;
  /** The holder before did not release it: it may have been killed, or be paused and come back at any moment. */
  readonly takenOver: boolean;
  /** Aborted once the lease is lost, or might be because it could not be renewed. */
  readonly signal: AbortSignal;
  /**
   * Prolongs it; false when somebody else has it by now. Inside a transaction it is the fence: what the transaction writes
   * is written by the holder or not at all. Nobody needs to call it just to go on: that happens by itself.
   */
  renew(queries?: Queries): Promise<boolean>;
  /**
   * The fence for transactions of one holder that run side by side: false when somebody else has the lease by now. Otherwise nobody
   * takes it before the transaction has ended.
   */
  isHeldIn(transaction: Queries): Promise<boolean>;
  /** Ends it. False when it had been lost: what was done under it may have been done twice. */
  release(): Promise<boolean>;
  /** Leaves it as a kill would: it runs out, and the next holder learns that it took over. */
  abandon(): void;
}

export interface Leases {
  /** null: somebody else has it. */
  acquire(name: string): Promise<Lease | null>;
  /** Whether somebody has it, by what the queries see. */
  isHeld(queries: Queries, name: string): Promise<boolean>;
}

export interface LeaseTimes {
  /** Without a renewal a holder counts its lease as lost after so long. Milliseconds, like the others. */
  readonly lifetime: number;
  readonly renewEvery: number;
  /** How much later others may take it: what clocks of different speed and a slow statement may cost. */
  readonly margin: number;
}

export const LEASE_TIMES: LeaseTimes = { lifetime: 30_000, renewEvery: 10_000, margin: 5_000 };

/** Nobody who holds a lease outlives a loss of power, so no flush is waited for. Deletions begin with a lease, too. */
const VOLATILE = { durable: false, freesSpace: true } as const;

/** A step is short, so requests run in between. */
const REMOVED_AT_ONCE = 200;

type LeaseDeps = { readonly database: Database; readonly clock: Pick<Clock, "elapsed">; readonly random: Random };

/** Each call is a holder of its own, and a name has one at a time. */
export function openLeases({ database, clock, random }: LeaseDeps, times: LeaseTimes = LEASE_TIMES): Leases {
  const holder = random.uuid();
  const statements = statementsFor(database);
  const { lifetime, margin } = times;
  const longest = lifetime + CLOCK_SLACK;
  return {
    async isHeld(queries, name) {
      return (await queries.first(statements.held(queries, { name, margin, longest }))) !== null;
    },
    async acquire(name) {
      const asked = clock.elapsed();
      const query = statements.acquire(database, { name, holder, lifetime, margin, longest });
      const row = await database.transaction((transaction) => transaction.first(query), VOLATILE);
      return row === null
        ? null
        : new HeldLease({ database, clock, statements, times }, { name, holder, ...row }, asked);
    },
  };
}

interface LeaseParts {
  readonly database: Database;
  readonly clock: Pick<Clock, "elapsed">;
  readonly statements: Statements;
  readonly times: LeaseTimes;
}

class HeldLease implements Lease {
  readonly fence: number;
  readonly takenOver: boolean;
  readonly #parts: LeaseParts;
  readonly #key: { readonly name: string; readonly holder: string; readonly fence: number };
  readonly #lost = new AbortController();
  readonly #renewing: NodeJS.Timeout;
  #confirmed: number;

  constructor(
    parts: LeaseParts,
    row: { readonly name: string; readonly holder: string; readonly fence: number; readonly taken_over: number },
    asked: number,
  ) {
    this.#parts = parts;
    this.#key = { name: row.name, holder: row.holder, fence: row.fence };
    this.fence = row.fence;
    this.takenOver = row.taken_over === 1;
    this.#confirmed = asked;
    this.#renewing = setInterval(() => void this.#renewOrLose(), parts.times.renewEvery).unref();
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  async renew(queries?: Queries): Promise<boolean> {
    const { database, clock, statements, times } = this.#parts;
    const asked = clock.elapsed();
    const query = statements.renew(database, { ...this.#key, lifetime: times.lifetime });
    const run = (on: Queries): Promise<number> => on.run(query);
    const held = (await (queries === undefined ? database.transaction(run, VOLATILE) : run(queries))) === 1;
    if (held) this.#confirmed = asked;
    else this.#lose();
    return held;
  }

  async isHeldIn(transaction: Queries): Promise<boolean> {
    const { statements } = this.#parts;
    const held = (await transaction.first(statements.fence(transaction, this.#key))) !== null;
    if (!held) this.#lose();
    return held;
  }

  async release(): Promise<boolean> {
    clearInterval(this.#renewing);
    const { database, statements } = this.#parts;
    const query = statements.release(database, this.#key);
    return (await database.transaction((transaction) => transaction.run(query), VOLATILE)) === 1;
  }

  abandon(): void {
    clearInterval(this.#renewing);
  }

  /** A database that does not answer takes no lease away at once. */
  async #renewOrLose(): Promise<void> {
    await this.renew().catch(() => undefined);
    if (this.#parts.clock.elapsed() - this.#confirmed >= this.#parts.times.lifetime) this.#lose();
  }

  #lose(): void {
    clearInterval(this.#renewing);
    this.#lost.abort(new Error(`The lease ${this.#key.name} is lost`));
  }
}

type Statements = ReturnType<typeof statementsFor>;

type Acquiring = {
  readonly name: string;
  readonly holder: string;
  readonly lifetime: number;
  readonly margin: number;
  readonly longest: number;
};

/**
 * The clock of the database alone decides, so the machines' clocks need not agree. A lease that ends later than any can was taken while
 * that clock was ahead. It counts as over: its holder renews it, unless it has ended, and if another one is faster, the fence is higher.
 */
function statementsFor(database: Database) {
  const now = clockOf(database);
  const acquire = prepared((build, value: Acquiring) =>
    build
      .insertInto("leases")
      .values((row) => ({
        name: value.name,
        holder: value.holder,
        fence: 1,
        taken_over: 0,
        until: row(now, "+", value.lifetime),
      }))
      .onConflict((conflict) =>
        conflict
          .column("name")
          .doUpdateSet((row) => ({
            holder: row.ref("excluded.holder"),
            until: row.ref("excluded.until"),
            fence: row("leases.fence", "+", 1),
            taken_over: row.case().when("leases.holder", "is", null).then(0).else(1).end(),
          }))
          .where((row) =>
            row.or([
              row("leases.holder", "is", null),
              row(row("leases.until", "+", value.margin), "<=", now),
              row(row("leases.until", "-", value.longest), ">", now),
            ]),
          ),
      )
      .returning(["fence", "taken_over"]),
  );
  const renew = prepared((build, value: { name: string; holder: string; fence: number; lifetime: number }) =>
    build
      .updateTable("leases")
      .set((row) => ({ until: row(now, "+", value.lifetime) }))
      .where("name", "=", value.name)
      .where("holder", "=", value.holder)
      .where("fence", "=", value.fence),
  );
  const release = prepared((build, value: { name: string; holder: string; fence: number }) =>
    build
      .updateTable("leases")
      .set({ holder: null })
      .where("name", "=", value.name)
      .where("holder", "=", value.holder)
      .where("fence", "=", value.fence),
  );
  const fence = fenceOf(database);
  const held = prepared((build, value: { name: string; margin: number; longest: number }) =>
    build
      .selectFrom("leases")
      .select("name")
      .where("name", "=", value.name)
      .where("holder", "is not", null)
      .where((row) => row(row("until", "+", value.margin), ">", now))
      .where((row) => row(row("until", "-", value.longest), "<=", now)),
  );
  return { acquire, renew, release, fence, held };
}

/** The row of a lease, if it is still the holder's. A writer of SQLite is alone; elsewhere nobody takes the row until the transaction ends. */
function fenceOf({ capabilities }: Pick<Database, "capabilities">) {
  return prepared((build, value: { name: string; holder: string; fence: number }) =>
    build
      .selectFrom("leases")
      .select("name")
      .where("name", "=", value.name)
      .where("holder", "=", value.holder)
      .where("fence", "=", value.fence)
      .$if(capabilities.dialect === "postgres", (query) => query.forShare()),
  );
}

/** How many leases somebody holds. */
export async function countHeld(database: Database): Promise<number> {
  const held = database.build
    .selectFrom("leases")
    .select((row) => row.fn.countAll<number>().as("count"))
    .where("holder", "is not", null)
    .where("until", ">", clockOf(database))
    .where((row) => row(row("until", "-", LEASE_TIMES.lifetime + CLOCK_SLACK), "<=", clockOf(database)));
  return (await database.first(held))?.count ?? 0;
}

/**
 * Holds a name until the transaction ends, for things without a row. One of several transactions that hold it goes on,
 * and the others see its committed state. No lease may have such a name.
 */
export async function lockName(transaction: Queries, name: string): Promise<void> {
  await transaction.run(
    transaction.build
      .insertInto("leases")
      .values({ name, holder: null, fence: 0, taken_over: 0, until: 0 })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ fence: 0 })),
  );
}

/**
 * Releases what processes held that are known to have ended: for one that found itself alone when it began.
 * @param began by the clock of the machine that the database runs on, as they share it.
 */
export async function releaseEnded(database: Database, began: number): Promise<void> {
  await database.run(
    database.build
      .updateTable("leases")
      .set({ holder: null })
      .where("until", "<", began + LEASE_TIMES.lifetime),
  );
}

/** Removes some of the rows that nobody has held for so long; how many. What they were for is over by then. */
export function removeUnused(database: Database, unusedFor: number): Promise<number> {
  const unused = database.build
    .selectFrom("leases")
    .select("name")
    .where((row) => row("until", "<=", row(clockOf(database), "-", unusedFor)))
    .limit(REMOVED_AT_ONCE);
  return database.run(database.build.deleteFrom("leases").where("name", "in", unused));
}
