import { beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/kit/clock.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { accountRow, vaultRow } from "../../../test/kit/rows.ts";
import { parseConfig } from "../config.ts";
import { requestMail } from "../features/mail-tokens/requests.ts";
import { useMailToken } from "../features/mail-tokens/store.ts";
import { hashMailToken } from "../features/mail-tokens/rules.ts";
import { tokenIn } from "../features/mail-tokens/mail.test-kit.ts";
import type { Database } from "../ports/database.ts";
import { wrapDatabase } from "../ports/wrapped-database.ts";
import { type Mail, MailError, type Mailer } from "../ports/mailer.ts";
import { systemRandom } from "../ports/random.ts";
import { mailJob, sendRequestedMails } from "./mail.ts";
import { ofEachTest } from "../each.test-kit.ts";
import { openTestDatabase } from "../storage.test-kit.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const SECOND = 1000;
const HOUR = 3600 * SECOND;
const LEASE = 300 * SECOND;
const EMAIL = "reader@example.test";
const running = new AbortController().signal;
const { settings } = parseConfig({ SERVICE_ENV: "development" });

const directory = ofEachTest(async () => ({ path: makeDirectory() }));
let database: Database;
let clock: ManualClock;
let mails: Mail[];
let lines: string[];
/** What the mailer does with the next mail. */
let onSend: (mail: Mail) => Promise<void>;

const mailer: Mailer = {
  delivers: true,
  async send(mail) {
    await onSend(mail);
    mails.push(mail);
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
const note = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) =>
  void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
const log = { info: note("info"), error: note("error") };
const deps = (more: { database?: Database } = {}) => ({
  database,
  clock,
  random: systemRandom,
  mailer,
  settings,
  log,
  ...more,
});
const round = (more: { database?: Database } = {}) => sendRequestedMails(deps(more), running);
const ask = (purpose: "verify" | "reset" = "reset", email = EMAIL) => requestMail(deps(), database, purpose, email);
const requests = () => database.all(database.build.selectFrom("mail_requests").selectAll());
const tokens = () => database.all(database.build.selectFrom("mail_tokens").selectAll());

beforeEach(async () => {
  database = await openTestDatabase(directory.path);
  clock = new ManualClock();
  await addAccount(EMAIL);
  mails = [];
  lines = [];
  onSend = () => Promise.resolve();
  return () => database[Symbol.asyncDispose]();
});

async function addAccount(email: string): Promise<void> {
  const account = accountRow({ email, email_verified: 0 });
  const vault = vaultRow({ id: account.default_vault_id, account_id: account.id });
  await database.run(database.build.insertInto("accounts").values(account));
  await database.run(database.build.insertInto("vaults").values(vault));
}

describe("the mail job", () => {
  it("sends what was asked for, once, and says so without an address or a token", async () => {
    await ask("verify");
    await ask("reset");
    await round();
    await round();
    expect(mails.map(({ to }) => to)).toEqual([EMAIL, EMAIL]);
    expect(await requests()).toEqual([]);
    expect(lines.toSorted()).toEqual([
      'info mail sent {"job":"send mail","purpose":"reset","attempt":1}',
      'info mail sent {"job":"send mail","purpose":"verify","attempt":1}',
    ]);
  });

  it("mints the token when it sends: its life begins then, and it works before the mail has left", async () => {
    await ask();
    clock.advance(20 * HOUR);
    let worked = false;
    onSend = async (mail) => {
      const [row] = await tokens();
      worked = row?.hash === hashMailToken(tokenIn(mail));
    };
    await round();
    expect(worked).toBe(true);
    expect((await tokens()).map(({ expires_at: at }) => at)).toEqual([clock.now() + HOUR]);
  });

  it("sends many, a few at the same time", async () => {
    const readers = Array.from({ length: FULL ? 500 : 50 }, (_, at) => `reader-${at}@example.test`);
    for (const email of readers) await addAccount(email);
    for (const email of readers) await ask("verify", email);
    let most = 0;
    let now = 0;
    onSend = async () => {
      most = Math.max(most, (now += 1));
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
    };
    await round();
    expect(mails.map(({ to }) => to).toSorted()).toEqual(readers.toSorted());
    expect(most).toBeLessThanOrEqual(4);
  });

  it("sends each mail once when two processes look at the same time", async () => {
    await using other = await openTestDatabase(directory.path);
    for (let turn = 0; turn < (FULL ? 50 : 5); turn += 1) {
      const readers = Array.from({ length: 20 }, (_, at) => `reader-${turn}-${at}@example.test`);
      for (const email of readers) await addAccount(email);
      for (const email of readers) await ask("verify", email);
      mails = [];
      await Promise.all([round(), round({ database: other }), round(), round({ database: other })]);
      expect(mails.map(({ to }) => to).toSorted()).toEqual(readers.toSorted());
    }
  });
});

describe("a mail that is on its way", () => {
  it("is nobody else's until its lease is over; then it is sent again", async () => {
    await ask();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const sending = Promise.withResolvers<undefined>();
    onSend = () => (sending.resolve(undefined), promise);
    const first = round();
    await sending.promise;
    onSend = () => Promise.resolve();
    clock.advance(LEASE - 1);
    await round();
    expect(mails).toHaveLength(0);
    clock.advance(1);
    await round();
    expect(mails).toHaveLength(1);
    resolve(undefined);
    await first;
    expect(mails).toHaveLength(2);
    expect(await requests()).toEqual([]);
  });

  it("whose server dies before it is noted down goes out a second time, and either token works", async () => {
    await ask();
    const dying = wrapDatabase(database, { run: () => Promise.reject(new Error("killed")) });
    await expect(round({ database: dying })).rejects.toThrow("killed");
    await round();
    expect(mails).toHaveLength(1);
    clock.advance(LEASE);
    await round();
    expect(mails).toHaveLength(2);
    const both = mails.map((mail) => hashMailToken(tokenIn(mail)));
    expect(new Set(both).size).toBe(2);
    for (const hash of both) {
      const used = await database.first(useMailToken(database, { hash, purpose: "reset", now: clock.now() }));
      expect(used?.email).toBe(EMAIL);
    }
  });

  it("is waited for when the server stops, for a moment; what does not end by then is sent again later", async () => {
    await ask();
    const stopping = new AbortController();
    onSend = () => {
      stopping.abort();
      return new Promise((resolve) => setImmediate(resolve));
    };
    await sendRequestedMails(deps(), stopping.signal);
    expect(mails).toHaveLength(1);
    expect(await requests()).toEqual([]);

    await ask();
    await ask();
    const later = new AbortController();
    onSend = () => {
      later.abort();
      return new Promise(() => undefined);
    };
    await sendRequestedMails(deps(), later.signal);
    expect(await requests()).toHaveLength(2);
    onSend = () => Promise.resolve();
    clock.advance(LEASE);
    await round();
    expect(mails).toHaveLength(3);
  });
});

describe("a mail that is not taken", () => {
  const refuse = (permanent: boolean) => () => Promise.reject(new MailError("no such thing (550)", { permanent }));

  it("for now is tried again after 5 s, 10 s, 20 s … 1 h, and given up within a day", async () => {
    await ask();
    onSend = refuse(false);
    const waits: number[] = [];
    const began = clock.now();
    for (;;) {
      await round();
      const [request] = await requests();
      if (request === undefined) break;
      const wait = request.not_before - clock.now();
      waits.push(wait / SECOND);
      const before = lines.length;
      clock.advance(wait - 1);
      await round();
      expect(lines).toHaveLength(before);
      clock.advance(1);
    }
    const doubled = Array.from({ length: 10 }, (_, at) => 5 * 2 ** at);
    expect(waits.slice(0, 11)).toEqual([...doubled, 3600]);
    expect(new Set(waits.slice(10))).toEqual(new Set([3600]));
    expect(clock.now() - began).toBeGreaterThan(22 * HOUR);
    expect(clock.now() - began).toBeLessThan(24 * HOUR);
    expect(lines.at(-1)).toMatch(/^error mail not sent, given up .*"reason":"no such thing \(550\)"/);
    expect(lines.join()).not.toContain(EMAIL);
    expect(mails).toEqual([]);
  });

  it("for now goes out as soon as it is taken, with a token of its own", async () => {
    await ask();
    onSend = refuse(false);
    await round();
    onSend = () => Promise.resolve();
    clock.advance(5 * SECOND);
    await round();
    expect(mails).toHaveLength(1);
    const hash = hashMailToken(tokenIn(mails[0]));
    expect((await tokens()).map((token) => token.hash)).toContain(hash);
  });

  it("for good is given up at once, with a line in the log", async () => {
    await ask();
    onSend = refuse(true);
    await round();
    expect(await requests()).toEqual([]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^error mail refused, given up \{"job":"send mail","purpose":"reset","attempt":1,/);
  });

  it("because the mailer has a defect is tried again, and the defect is logged", async () => {
    await ask();
    onSend = () => Promise.reject(new TypeError("a defect"));
    await round();
    expect(lines[0]).toMatch(/^error a mailer failed/);
    onSend = () => Promise.resolve();
    clock.advance(5 * SECOND);
    await round();
    expect(mails).toHaveLength(1);
  });

  it("does not hold up the others", async () => {
    await addAccount("other@example.test");
    await ask();
    await ask("reset", "other@example.test");
    onSend = ({ to }) => (to === EMAIL ? refuse(false)() : Promise.resolve());
    await round();
    expect(mails.map(({ to }) => to)).toEqual(["other@example.test"]);
  });

  it("because it kills the server each time is given up after 50 attempts", async () => {
    await ask();
    await database.run(database.build.updateTable("mail_requests").set({ attempts: 49 }));
    onSend = refuse(false);
    await round();
    expect(await requests()).toEqual([]);
  });
});

describe("a clock that is set back", () => {
  it("does not keep a mail waiting until that time comes again", async () => {
    await ask();
    clock.advance(-30 * 24 * HOUR);
    await round();
    expect(mails).toHaveLength(1);
  });
});

describe("a look that fails", () => {
  it("is not repeated at once", async () => {
    let looks = 0;
    const broken = wrapDatabase(database, { first: () => Promise.reject(new Error(`look ${(looks += 1)}`)) });
    const job = mailJob(deps({ database: broken }));
    await expect(job.run(running)).rejects.toThrow("look 1");
    clock.advance(15 * SECOND - 1);
    await job.run(running);
    expect(looks).toBe(1);
    clock.advance(1);
    await expect(job.run(running)).rejects.toThrow("look 2");
  });
});
