import { expect, it } from "vitest";
import { DatabaseUnavailableError } from "../../ports/database.ts";
import { AccountTurns } from "./postgres/account-turns.ts";
import { Turn } from "./turn.ts";

it("a turn is not had by those who gave up waiting, and those behind them still wait for those before", async () => {
  const turn = new Turn();
  const first = await turn.acquire();
  const gaveUp = await turn.acquire(1);
  let isNext = false;
  const next = turn.acquire().then((taken) => ((isNext = true), taken));
  expect([gaveUp, turn.waiting, isNext]).toEqual([null, 3, false]);
  first[Symbol.dispose]();
  (await next)[Symbol.dispose]();
  expect([turn.waiting, isNext]).toEqual([0, true]);
});

it("an act that waits too long for an account is refused as busy, and lets go of the accounts that it had", async () => {
  const turns = new AccountTurns(1);
  const held = await turns.acquire(["b"]);
  await expect(turns.acquire(["a", "b"])).rejects.toMatchObject({ name: DatabaseUnavailableError.name, busy: true });
  (await turns.acquire(["a"]))[Symbol.dispose]();
  held[Symbol.dispose]();
  (await turns.acquire(["a", "b"]))[Symbol.dispose]();
});
