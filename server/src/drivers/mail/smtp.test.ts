import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { makeCertificates } from "../../../../test/kit/certificates.ts";
import { ManualClock } from "../../../../test/kit/clock.ts";
import { describeMailer, failureOf, mailOf } from "../../../../test/suites/mailer.ts";
import { systemRandom } from "../../ports/random.ts";
import { openSmtp, type SmtpOptions } from "./smtp.ts";
import { openRawServer, openSmtpServer } from "./smtp-server.test-kit.ts";

/** Far more than loopback needs, far less than a test may take. */
const TIMEOUTS = { connect: 5000, greeting: 5000, idle: 5000, whole: 10_000 };
const SHORT = 50;
const SECRET = "pass:word@with/odd?chars";

describeMailer("SMTP", async () => {
  const server = await openSmtpServer();
  return {
    open: async (from) => await Promise.resolve().then(() => open(server.port, { from })),
    received: () => Promise.resolve(server.received),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
});

describe("what an SMTP server refuses", () => {
  it.each([
    ["a recipient for good", "onRcptTo", 550, true],
    ["a recipient for now", "onRcptTo", 450, false],
    ["a sender for good", "onMailFrom", 553, true],
    ["a sender for now", "onMailFrom", 451, false],
    ["a sender who has to sign in first", "onMailFrom", 530, false],
    ["the content for good", "onData", 554, true],
    ["the content for now", "onData", 452, false],
    ["the order of commands", "onData", 503, false],
    ["the connection, even with a code for good", "onConnect", 554, false],
  ] as const)("%s is such a failure", async (_what, handler, code, permanent) => {
    const refuse = (...words: unknown[]): void => {
      const done = words.at(-1) as (error: Error) => void;
      const [stream] = words as [{ resume?: () => void }];
      stream.resume?.();
      done(Object.assign(new Error("reader@example.test is not wanted"), { responseCode: code }));
    };
    await using server = await openSmtpServer({ [handler]: refuse });
    await using mailer = open(server.port);
    const error = await failureOf(mailer.send(mailOf({ text: "kept-to-itself" })));
    expect(error.permanent).toBe(permanent);
    expect(error.message).toContain(String(code));
    // The server's words, the address and the text stay out of what will be logged.
    expect(inspect(error, { depth: 5 })).not.toMatch(/reader@example|not wanted|kept-to-itself/);
    expect(server.received).toEqual([]);
  });

  it("does not spoil the next mail", async () => {
    await using server = await openSmtpServer({
      onRcptTo({ address }, _session, done) {
        done(address.startsWith("refused") ? Object.assign(new Error("no"), { responseCode: 550 }) : null);
      },
    });
    await using mailer = open(server.port);
    expect((await failureOf(mailer.send(mailOf({ to: "refused@example.test" })))).permanent).toBe(true);
    await mailer.send(mailOf());
    expect(server.received).toHaveLength(1);
  });
});

describe("an SMTP server that misbehaves", () => {
  const passing = async (sending: Promise<void>): Promise<void> => {
    expect((await failureOf(sending)).permanent).toBe(false);
  };

  it("is not there: a failure that passes", async () => {
    const server = await openSmtpServer();
    await server[Symbol.asyncDispose]();
    await using mailer = open(server.port);
    await passing(mailer.send(mailOf()));
  });

  it("says nothing: given up after the greeting's time", async () => {
    await using server = await openRawServer(() => undefined);
    await using mailer = open(server.port, { timeouts: { ...TIMEOUTS, greeting: SHORT } });
    await passing(mailer.send(mailOf()));
    await server.allClosed();
  });

  it("falls silent in the middle: given up after a while of silence", async () => {
    await using server = await openRawServer((line, socket) => {
      if (line === null) socket.write("220 here\r\n");
      else if (line.startsWith("EHLO")) socket.write("250 here\r\n");
    });
    await using mailer = open(server.port, { timeouts: { ...TIMEOUTS, idle: SHORT } });
    await passing(mailer.send(mailOf()));
    await server.allClosed();
  });

  it("trickles for ever: given up after the time for one mail", async () => {
    await using server = await openRawServer((_line, socket) => {
      const timer = setInterval(() => socket.write("220-wait\r\n"), 5);
      socket.on("close", () => clearInterval(timer));
    });
    await using mailer = open(server.port, { timeouts: { ...TIMEOUTS, whole: 4 * SHORT } });
    await passing(mailer.send(mailOf()));
    await server.allClosed();
  });

  it("dies while it takes the mail: a failure that passes, and nothing is sent twice behind the caller's back", async () => {
    let data = 0;
    await using server = await openRawServer((line, socket) => {
      if (line === null) socket.write("220 here\r\n");
      else if (line === "DATA") socket.write("354 go on\r\n", () => (data += 1));
      else if (line === ".") socket.destroy();
      else if (/^(EHLO|MAIL|RCPT)/.test(line)) socket.write("250 ok\r\n");
    });
    await using mailer = open(server.port);
    await passing(mailer.send(mailOf()));
    expect(data).toBe(1);
    expect(server.heard().match(/^Message-ID/gim)).toHaveLength(1);
  });

  it("closes between two mails: the next mail gets a new connection", async () => {
    let kept = 0;
    await using server = await openRawServer((line, socket) => {
      if (line === null) socket.write("220 here\r\n");
      else if (line === "DATA") socket.write("354 go on\r\n");
      else if (line === ".") {
        kept += 1;
        socket.end("250 kept\r\n");
      } else if (/^(EHLO|MAIL|RCPT)/.test(line)) socket.write("250 ok\r\n");
    });
    await using mailer = open(server.port);
    await mailer.send(mailOf());
    await server.allClosed();
    await mailer.send(mailOf());
    expect(kept).toBe(2);
  });

  it("talks nonsense: a failure that passes, without the nonsense", async () => {
    await using server = await openRawServer((line, socket) => {
      if (line === null) socket.write("HTTP/1.1 400 reader@example.test\r\n\r\n");
    });
    await using mailer = open(server.port, { timeouts: { ...TIMEOUTS, greeting: 10 * SHORT } });
    const error = await failureOf(mailer.send(mailOf()));
    expect(error.permanent).toBe(false);
    expect(inspect(error)).not.toContain("reader@example.test");
  });

  it("is left at once when the mailer is disposed", async () => {
    await using server = await openRawServer((line, socket) => {
      if (line === null) socket.write("220 here\r\n");
    });
    const mailer = open(server.port);
    const sending = failureOf(mailer.send(mailOf()));
    while (server.heard() === "") await new Promise((resolve) => setImmediate(resolve));
    await mailer[Symbol.asyncDispose]();
    expect((await sending).permanent).toBe(false);
    await server.allClosed();
  });
});

describe("SMTP connections", () => {
  it("are few and used again", async () => {
    await using server = await openSmtpServer();
    await using mailer = open(server.port);
    for (let at = 0; at < 10; at += 1) await mailer.send(mailOf());
    expect(server.connections()).toBe(1);
    await Promise.all(Array.from({ length: 40 }, () => mailer.send(mailOf())));
    expect(server.connections()).toBeLessThanOrEqual(4);
    expect(server.received).toHaveLength(50);
  });

  it("sign in with the address's user and password, percent-encoded", async () => {
    await using server = await openSmtpServer({ disabledCommands: ["STARTTLS"], allowInsecureAuth: true });
    await using mailer = open(server.port, { user: "us er", pass: SECRET });
    await mailer.send(mailOf());
    expect(server.signIns).toEqual([`us er:${SECRET}`]);
    expect(server.received).toHaveLength(1);
  });

  it("keep a password that is refused to themselves; the mail is not to blame", async () => {
    await using server = await openSmtpServer({
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
      onAuth({ password }, _session, done) {
        done(Object.assign(new Error(`wrong password ${password ?? ""}`), { responseCode: 535 }));
      },
    });
    await using mailer = open(server.port, { user: "user", pass: SECRET });
    const error = await failureOf(mailer.send(mailOf()));
    expect(error.permanent).toBe(false);
    expect(error.message).toContain("535");
    const encoded = [SECRET, encodeURIComponent(SECRET), Buffer.from(`\0user\0${SECRET}`).toString("base64")];
    for (const form of encoded) expect(inspect([error, mailer], { depth: 8, showHidden: true })).not.toContain(form);
  });
});

describe("TLS to an SMTP server", () => {
  // 0.0.0.0 reaches this machine without being a loopback address: to the driver it is another machine.
  const elsewhere = "0.0.0.0";

  it("is a must beyond this machine: a server without it gets neither password nor mail", async () => {
    await using server = await openSmtpServer({ disabledCommands: ["STARTTLS"], allowInsecureAuth: true });
    await using mailer = open(server.port, { host: elsewhere, user: "user", pass: SECRET });
    expect((await failureOf(mailer.send(mailOf()))).permanent).toBe(false);
    expect(server.signIns).toEqual([]);
    expect(server.received).toEqual([]);
  });

  it("is a must also when somebody in between takes STARTTLS out of the greeting", async () => {
    await using server = await openRawServer((line, socket) => {
      if (line === null) socket.write("220 here\r\n");
      else if (line === "STARTTLS") socket.write("502 not here\r\n");
      else socket.write("250 ok\r\n");
    });
    await using mailer = open(server.port, { host: elsewhere });
    expect((await failureOf(mailer.send(mailOf()))).permanent).toBe(false);
    expect(server.heard()).not.toMatch(/MAIL FROM|AUTH|reader@/);
  });

  it("upgrades, or begins with it, when the certificate is trusted and names the server; else nothing is sent", async (context) => {
    const made = makeCertificates()?.good;
    if (made === undefined) return context.skip("openssl is not installed");
    const account = { user: "user", pass: SECRET };
    for (const secure of [false, true]) {
      await using server = await openSmtpServer({ ...made, secure, disabledCommands: [], hideSTARTTLS: false });
      const scheme = secure ? "smtps" : "smtp";
      const host = secure ? "localhost" : elsewhere;
      await using stranger = open(server.port, { scheme, host, ...account });
      expect((await failureOf(stranger.send(mailOf()))).permanent).toBe(false);
      expect(server.signIns).toEqual([]);
      await using mailer = open(server.port, { scheme, host, ...account, trust: made.cert });
      await mailer.send(mailOf());
      expect(server.signIns).toEqual([`user:${SECRET}`]);
      expect(server.received).toHaveLength(1);
    }
  });
});

type Opened = Partial<Pick<SmtpOptions, "from" | "timeouts" | "trust">> & {
  readonly scheme?: "smtp" | "smtps";
  readonly host?: string;
  readonly user?: string;
  readonly pass?: string;
};

function open(port: number, more: Opened = {}) {
  const { scheme = "smtp", host = "127.0.0.1", user, pass, from = "Coffer <service@example.test>", ...rest } = more;
  const account = user === undefined ? "" : `${encodeURIComponent(user)}:${encodeURIComponent(pass ?? "")}@`;
  const url = `${scheme}://${account}${host}:${port}`;
  return openSmtp({ url, from, clock: new ManualClock(), random: systemRandom, timeouts: TIMEOUTS, ...rest });
}
