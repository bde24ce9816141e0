/** One Idempotency-Key, sent to two processes at once while one of them is killed: whoever retries it, it acts once. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { openDraw } from "../fuzz/draw.ts";
import { createDatabase } from "../kit/postgres/databases.ts";
import { signUp } from "../kit/signed-up.ts";
import { type Fleet, openFleet } from "./accounts/fleet.ts";
import { openRowReader } from "./row-reader.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const KILLS = FULL ? 60 : 3;
const WRITERS = 20;
/** From the first request to the kill, at most: some kills find every request under way, some none. Milliseconds. */
const LONGEST_RACE = 60;
/** Longer than the lease of a killed process, which may have reserved the key. */
const PATIENCE = 60_000;
const ENVIRONMENT = { SERVICE_RATE_GENERAL: "1000000", SERVICE_RATE_GENERAL_BURST: "1000000" };

interface Answered {
  /** 0: cut off. */
  readonly status: number;
  readonly code: string | null;
  /** Of what was made; null: the answer names nothing. */
  readonly id: string | null;
}

/** Makes an invite. Many may have one name, so nothing but the key keeps a second one away. */
async function send(address: string, key: string, name: string): Promise<Answered> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": name };
  try {
    const answer = await fetch(`${address}/api/auth/invites`, {
      method: "POST",
      headers,
      body: JSON.stringify({ name }),
    });
    const id = answer.status === 201 ? ((await answer.json()) as { id: string }).id : idIn(answer);
    if (answer.status !== 201) await answer.arrayBuffer();
    return { status: answer.status, code: answer.headers.get("x-error-code"), id };
  } catch {
    return { status: 0, code: null, id: null };
  }
}

const idIn = (answer: Response): string | null => answer.headers.get("location")?.split("/").at(-1) ?? null;

/** A finding, or null: what may be answered while a process dies. */
function wrongIn({ status, code }: Answered): string | null {
  const isFine = status === 0 || status === 201 || code === "already_created" || code === "idempotency_in_progress";
  return isFine ? null : `answered ${String(status)} ${String(code)}`;
}

/** The id of what a key made, once somebody is told. */
async function retry(fleet: Fleet, key: string, name: string): Promise<string> {
  for (const until = performance.now() + PATIENCE; performance.now() < until; await pause(500)) {
    for (const address of fleet.addresses) {
      const answered = await send(address, key, name);
      expect(wrongIn(answered)).toBeNull();
      if (answered.id !== null) return answered.id;
    }
  }
  throw new Error(`${name} is still said to be under way`);
}

it.each(["SQLite", "PostgreSQL"] as const)(
  `two processes on %s: a key that ${String(WRITERS)} send at once acts once over ${String(KILLS)} times kill -9 [issue-20]`,
  async (on) => {
    await using place = on === "PostgreSQL" ? await createDatabase() : null;
    await using fleet = await openFleet(2, place?.url ?? null, ENVIRONMENT);
    await using rows = openRowReader(fleet.directory);
    const draw = openDraw(1);
    const { key } = await signUp(fleet.pick(draw));
    const raced = new Map<string, readonly Answered[]>();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const { addresses } = fleet;
      const name = randomUUID();
      const answering = Promise.all(
        Array.from({ length: WRITERS }, (_, at) => send(addresses[at % addresses.length] ?? "", key, name)),
      );
      await pause(draw.int(LONGEST_RACE));
      await fleet.kill(draw);
      raced.set(name, await answering);
    }
    expect(fleet.kills).toBe(KILLS);
    const made = await Promise.all([...raced.keys()].map((name) => retry(fleet, key, name)));
    for (const [at, [name, answers]] of [...raced].entries()) {
      expect(answers.map(wrongIn).filter((wrong) => wrong !== null)).toEqual([]);
      const told = new Set([made[at], ...answers.flatMap(({ id }) => id ?? [])]);
      const kept = await rows.all("select id from invites where name = ?", name);
      expect([...told]).toEqual(kept.map(({ id }) => id));
    }
    const all = [...raced.values()].flat();
    const counts = {
      cut: all.filter(({ status }) => status === 0).length,
      told: all.filter(({ id }) => id !== null).length,
    };
    console.log(JSON.stringify({ on, kills: KILLS, ...counts }));
    // There was something to lose.
    expect(counts.cut).toBeGreaterThan(0);
    expect(counts.told).toBeGreaterThan(0);
    expect(fleet.faults).toEqual([]);
  },
  FULL ? 900_000 : 180_000,
);
