/**
 * A queueing model of the service: requests arrive by chance, take a process, then the database, and writes also their account and the
 * database's log. Each takes as long as was measured, on average; times are spread as widely as arrivals (exponential).
 */

/** Milliseconds of one request. */
export interface Costs {
  readonly node: { readonly read: number; readonly write: number };
  readonly database: { readonly read: number; readonly write: number };
  /** The log's way to the disk, of everything that waits for it together. */
  readonly flush: number;
}

export interface Load {
  /** Requests a second. */
  readonly rate: number;
  /** How many of all requests write. */
  readonly writes: number;
  readonly accounts: number;
  readonly processes: number;
  /** Of the database's machine. */
  readonly cores: number;
  readonly requests: number;
}

export interface Simulated {
  /** Milliseconds within which half, and 99 of 100, were answered. */
  readonly half: number;
  readonly most: number;
  /** How much of the time each was busy, from 0 to 1. */
  readonly busy: { readonly processes: number; readonly database: number; readonly log: number };
}

type Event = { readonly at: number; readonly run: () => void };

/** What happens, in the order of time. */
class Agenda {
  now = 0;
  readonly #heap: Event[] = [];

  after(delay: number, run: () => void): void {
    const heap = this.#heap;
    heap.push({ at: this.now + delay, run });
    for (let at = heap.length - 1; at > 0;) {
      const parent = (at - 1) >> 1;
      if (earlier(heap, parent, at)) break;
      swap(heap, at, parent);
      at = parent;
    }
  }

  runAll(): void {
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      this.now = next.at;
      next.run();
    }
  }

  #take(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (heap.length === 0 || last === undefined) return first;
    heap[0] = last;
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const child = right < heap.length && earlier(heap, right, left) ? right : left;
      if (child >= heap.length || earlier(heap, at, child)) return first;
      swap(heap, at, child);
      at = child;
    }
  }
}

const earlier = (heap: readonly Event[], one: number, other: number): boolean =>
  (heap[one]?.at ?? 0) <= (heap[other]?.at ?? 0);

function swap(heap: Event[], one: number, other: number): void {
  const kept = heap[one];
  const moved = heap[other];
  if (kept === undefined || moved === undefined) return;
  heap[one] = moved;
  heap[other] = kept;
}

/** Some that serve, and one line before them. */
class Station {
  busy = 0;
  readonly #agenda: Agenda;
  readonly #waiting: (() => void)[] = [];
  #next = 0;
  #free: number;

  constructor(agenda: Agenda, servers: number) {
    this.#agenda = agenda;
    this.#free = servers;
  }

  /** Calls `served` after its turn and its time. */
  enter(duration: number, served: () => void): void {
    this.hold((release) => {
      this.busy += duration;
      this.#agenda.after(duration, () => {
        release();
        served();
      });
    });
  }

  /** Calls `held` at its turn, which lasts until it is released. */
  hold(held: (release: () => void) => void): void {
    const begin = () => held(() => this.#release());
    if (this.#free === 0) return void this.#waiting.push(begin);
    this.#free -= 1;
    begin();
  }

  #release(): void {
    const next = this.#waiting[this.#next];
    if (next === undefined) return void (this.#free += 1);
    this.#next += 1;
    next();
  }
}

/** Writes everything that waits at once, and takes as long for one as for many. */
class Log {
  busy = 0;
  readonly #agenda: Agenda;
  readonly #flush: number;
  #waiting: (() => void)[] = [];
  #isWriting = false;

  constructor(agenda: Agenda, flush: number) {
    this.#agenda = agenda;
    this.#flush = flush;
  }

  enter(written: () => void): void {
    this.#waiting.push(written);
    if (!this.#isWriting) this.#write();
  }

  #write(): void {
    const together = this.#waiting;
    this.#isWriting = together.length > 0;
    if (!this.#isWriting) return;
    this.#waiting = [];
    this.busy += this.#flush;
    this.#agenda.after(this.#flush, () => {
      for (const written of together) written();
      this.#write();
    });
  }
}

/** The same numbers in each run. */
function drawing(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
}

export function simulate(costs: Costs, load: Load): Simulated {
  const agenda = new Agenda();
  const draw = drawing(1);
  const spread = (mean: number): number => -Math.log(draw()) * mean;
  const processes = Array.from({ length: load.processes }, () => new Station(agenda, 1));
  const database = new Station(agenda, load.cores);
  const log = new Log(agenda, costs.flush);
  const accounts = new Map<number, Station>();
  const took: number[] = [];
  let left = load.requests;
  const pick = (count: number): number => Math.floor(draw() * count);
  const arrive = (): void => {
    const came = agenda.now;
    const isWrite = draw() < load.writes;
    const [kind, account] = [isWrite ? "write" : "read", pick(load.accounts)] as const;
    const done = (): void => void took.push(agenda.now - came);
    processes[pick(load.processes)]?.enter(spread(costs.node[kind]), () => {
      if (!isWrite) return database.enter(spread(costs.database.read), done);
      let row = accounts.get(account);
      if (row === undefined) accounts.set(account, (row = new Station(agenda, 1)));
      // The account's row is locked until its commit is in the log.
      row.hold((release) =>
        database.enter(spread(costs.database.write), () =>
          log.enter(() => {
            release();
            done();
          }),
        ),
      );
    });
    left -= 1;
    if (left > 0) agenda.after(spread(1000 / load.rate), arrive);
  };
  arrive();
  agenda.runAll();
  const sorted = took.toSorted((one, other) => one - other);
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0;
  const each = processes.reduce((sum, { busy }) => sum + busy, 0) / load.processes;
  return {
    half: at(0.5),
    most: at(0.99),
    busy: {
      processes: each / agenda.now,
      database: database.busy / load.cores / agenda.now,
      log: log.busy / agenda.now,
    },
  };
}
