import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { parseConfig } from "../../config.ts";
import { openTestDatabase } from "../../storage.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { ServiceError } from "../../service-error.ts";
import { startSignIn, forgetSignIns, recordFailedSignIn, recordSignIn } from "./sign-in-delays.ts";
import { ageSignIns } from "./accounts.test-kit.ts";

const HOME = "192.0.2.1";
const AWAY = "203.0.113.1";
const ADA = "ada@example.test";
const DAY = 86_400_000;

const { settings } = parseConfig({ SERVICE_ENV: "development", SERVICE_SIGN_IN_FAILURES: "5" });
const directory = ofEachTest(async () => ({ path: makeDirectory() }));
const deps = ofEachTest(async () => {
  const database = await openTestDatabase(directory.path);
  return { database, settings, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
});

/** "begun", or how many seconds it has to wait. */
async function begin(email: string, address = HOME, of: Pick<typeof deps, "database"> = deps): Promise<string> {
  try {
    await startSignIn({ ...of, settings }, { email, address });
    return "begun";
  } catch (error) {
    if (error instanceof ServiceError && error.code === "rate_limited") return error.headers["Retry-After"] ?? "";
    throw error;
  }
}

async function guess(email: string, address = HOME): Promise<string> {
  const outcome = await begin(email, address);
  if (outcome === "begun") await recordFailedSignIn(deps, { email, address });
  return outcome;
}

async function guesses(count: number, email: string, address = HOME): Promise<string[]> {
  const outcomes = [];
  for (let at = 0; at < count; at += 1) outcomes.push(await guess(email, address));
  return outcomes;
}

async function signIn(email: string, address = HOME): Promise<void> {
  expect(await begin(email, address)).toBe("begun");
  await deps.database.transaction((transaction) => recordSignIn(deps, transaction, { email, address }));
}

const FIVE = Array.from({ length: 5 }, () => "begun");

describe("waits after wrong passwords", () => {
  it("hold for guesses that are sent to several processes all at once [D2-login]", async () => {
    await using another = await openTestDatabase(directory.path);
    const processes = [deps, { ...deps, database: another }];
    const begun = await Promise.all(Array.from({ length: 50 }, (_, at) => begin(ADA, HOME, processes[at % 2])));
    expect(begun.filter((outcome) => outcome === "begun")).toHaveLength(5);
  });

  it("do not hold up the right password for as long as the clock was ahead [D2-login]", async () => {
    await guesses(6, ADA);
    const { database } = deps;
    const ahead = 2 * DAY;
    await database.run(
      database.build
        .updateTable("sign_in_delays")
        .set((row) => ({ next_at: row("next_at", "+", ahead), expires_at: row("expires_at", "+", ahead) })),
    );
    await signIn(ADA);
  });

  it("end with the right password [D2-login]", async () => {
    expect(await guesses(6, ADA)).toEqual([...FIVE, "1"]);
    await ageSignIns(deps.database, 1000);
    await signIn(ADA);
    expect(await guesses(6, ADA)).toEqual([...FIVE, "1"]);
  });

  it("count over all addresses, and hold up nobody at an address whose sign-in succeeded before [D2-login]", async () => {
    await signIn(ADA);
    for (let at = 0; at < 5; at += 1) await guess(ADA, `203.0.113.${at}`);
    expect(await guess(ADA, AWAY)).toBe("1");
    // The right password at home does not give who guesses elsewhere new turns.
    await signIn(ADA);
    expect(await guess(ADA, AWAY)).toBe("1");
    // At home wrong passwords have waits of their own.
    expect(await guesses(6, ADA)).toEqual([...FIVE, "1"]);
    await ageSignIns(deps.database, 30 * DAY);
    expect(await guesses(5, ADA, AWAY)).toEqual(FIVE);
    expect(await guess(ADA)).toBe("1");
  });

  it("end when the owner has shown another proof", async () => {
    await guesses(5, ADA);
    await deps.database.transaction((transaction) => forgetSignIns(transaction, ADA));
    expect(await guess(ADA)).toBe("begun");
  });

  it("are each e-mail's own, and stay when others come by [D2-login]", async () => {
    await guesses(5, ADA);
    for (let turn = 0; turn < 100; turn += 1) expect(await guess(`${turn}@example.test`)).toBe("begun");
    expect(await guess(ADA)).toBe("1");
  });
});
