/** What every driver of the mailer port must do, whoever delivers the mail in the end. */
import { type Mail, MailError, type Mailer } from "@coffer/server/ports/mailer";
import { domainToASCII } from "node:url";
import { describe, expect, it } from "vitest";
import { readMail } from "./mailer-message.ts";

/** A mail as it reached the next hop. */
export interface ReceivedMail {
  /** The recipients of its envelope; null where there is no envelope, as in a file. */
  readonly envelope: { readonly from: string; readonly to: readonly string[] } | null;
  readonly bytes: Uint8Array;
}

/** The next hop, empty at first. */
export interface MailMedium extends AsyncDisposable {
  /** A mailer over it that sends as `from`. */
  open(from: string): Promise<Mailer>;
  /** What has arrived so far, in the order of arrival. */
  received(): Promise<readonly ReceivedMail[]>;
}

export type OpenMailMedium = () => Promise<MailMedium>;

const FROM = "Coffer <service@example.test>";

export function mailOf(more: Partial<Mail> = {}): Mail {
  return { to: "reader@example.test", subject: "A subject", text: "First line\n\nLast line\n", ...more };
}

/** The error that a send ends with; fails when there is none, or another kind. */
export async function failureOf(sending: Promise<void>): Promise<MailError> {
  const error: unknown = await sending.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof MailError)) throw new Error("expected a MailError");
  return error;
}

export function describeMailer(name: string, openMedium: OpenMailMedium): void {
  describe(`mailer: ${name}`, () => {
    describeDelivery(openMedium);
    describeWords(openMedium);
    describeInjection(openMedium);
  });
}

/** Tests that each get a mailer over an empty medium. */
function mailerTests(openMedium: OpenMailMedium) {
  return (title: string, check: (mailer: Mailer, medium: MailMedium) => Promise<void>, from = FROM): void =>
    it(title, async () => {
      await using medium = await openMedium();
      await using mailer = await medium.open(from);
      await check(mailer, medium);
    });
}

/** The one mail that has arrived. */
async function onlyMail(medium: MailMedium) {
  const received = await medium.received();
  const [mail] = received;
  if (mail === undefined || received.length > 1) throw new Error(`${received.length} mails have arrived`);
  return { ...mail, ...readMail(mail.bytes) };
}

function describeDelivery(openMedium: OpenMailMedium): void {
  const test = mailerTests(openMedium);

  test("has handed the mail over when it resolves, with the headers that a mail needs", async (mailer, medium) => {
    await mailer.send(mailOf());
    const mail = await onlyMail(medium);
    expect(mail.text).toBe(mailOf().text);
    expect(mail.header("to")).toBe("reader@example.test");
    expect(mail.header("from")).toBe("Coffer <service@example.test>");
    expect(mail.header("subject")).toBe("A subject");
    expect(Date.parse(mail.header("date"))).toBeGreaterThan(0);
    expect(mail.header("message-id")).toMatch(/^<[0-9a-f-]{36}@example\.test>$/);
    expect(mail.header("auto-submitted")).toBe("auto-generated");
    if (mail.envelope !== null) {
      expect(mail.envelope).toEqual({ from: "service@example.test", to: ["reader@example.test"] });
    }
  });

  test("sends again what it is asked to send again, as another mail", async (mailer, medium) => {
    await mailer.send(mailOf());
    await mailer.send(mailOf());
    const ids = (await medium.received()).map(({ bytes }) => readMail(bytes).header("message-id"));
    expect(new Set(ids).size).toBe(2);
  });

  test("sends many at the same time, each to its own reader", async (mailer, medium) => {
    const readers = Array.from({ length: 20 }, (_, at) => `reader-${at}@example.test`);
    await Promise.all(readers.map((to) => mailer.send(mailOf({ to, text: `for ${to}` }))));
    const read = (await medium.received()).map(({ bytes }) => readMail(bytes));
    expect(read.map((mail) => mail.header("to")).toSorted()).toEqual(readers.toSorted());
    for (const mail of read) expect(mail.text.trimEnd()).toBe(`for ${mail.header("to")}`);
  });

  it("keeps the order of mails that are sent one after the other", async () => {
    await using medium = await openMedium();
    await using mailer = await medium.open(FROM);
    for (let at = 0; at < 5; at += 1) await mailer.send(mailOf({ subject: `mail ${at}` }));
    const subjects = (await medium.received()).map(({ bytes }) => readMail(bytes).header("subject"));
    expect(subjects).toEqual(["mail 0", "mail 1", "mail 2", "mail 3", "mail 4"]);
  });

  it("takes nothing more once it is disposed; a second disposal is no error", async () => {
    await using medium = await openMedium();
    const mailer = await medium.open(FROM);
    await mailer[Symbol.asyncDispose]();
    await mailer[Symbol.asyncDispose]();
    expect((await failureOf(mailer.send(mailOf()))).permanent).toBe(false);
    expect(await medium.received()).toEqual([]);
  });
}

function describeWords(openMedium: OpenMailMedium): void {
  const test = mailerTests(openMedium);

  const texts: Readonly<Record<string, string>> = {
    "a link longer than a line of quoted-printable": `https://app.example.test/reset-password?token=${"x".repeat(90)}\n`,
    "a lone dot, which would end the mail": "before\n.\n..\n.after\n",
    "a line that begins like a mailbox separator": "From here on\n",
    "letters beyond ASCII": "Grüße aus Zürich, 日本語, 🗝\n",
    "a line longer than a server takes": `${"y".repeat(3000)}\n`,
    "what looks like another part": "--boundary\nContent-Type: text/html\n\n=3D =\n",
    nothing: "",
  };
  for (const [what, text] of Object.entries(texts)) {
    test(`brings the text unchanged: ${what}`, async (mailer, medium) => {
      await mailer.send(mailOf({ text }));
      const mail = await onlyMail(medium);
      // SMTP ends every mail with a line break (RFC 5321 §4.1.1.4).
      expect(mail.text.replace(/\n$/, "")).toBe(text.replace(/\n$/, ""));
    });
  }

  it("leaves plain text as it is, so that a link can be copied out of the raw mail", async () => {
    const link = `https://app.example.test/reset-password?token=${"x".repeat(90)}`;
    await using medium = await openMedium();
    await using mailer = await medium.open(FROM);
    await mailer.send(mailOf({ text: `Open this:\n\n${link}\n` }));
    const [mail] = await medium.received();
    expect(Buffer.from(mail?.bytes ?? []).toString("latin1")).toContain(`\r\n${link}\r\n`);
  });

  test(
    "writes names and subjects beyond ASCII so that every program reads them",
    async (mailer, medium) => {
      await mailer.send(mailOf({ subject: "Schlüssel für 日本 🗝" }));
      const mail = await onlyMail(medium);
      expect(mail.header("subject")).toBe("Schlüssel für 日本 🗝");
      expect(mail.header("from")).toMatch(/^"?Köffer & Söhne"? <service@example\.test>$/);
      const head = Buffer.from(mail.bytes).toString("latin1").split("\r\n\r\n")[0] ?? "";
      expect(head).toMatch(/^[\r\n\t\x20-\x7e]*$/);
    },
    "Köffer & Söhne <service@example.test>",
  );

  test("writes a domain beyond ASCII as the name system knows it", async (mailer, medium) => {
    await mailer.send(mailOf({ to: "reader@bücher.example" }));
    const mail = await onlyMail(medium);
    expect(mail.header("to")).toBe("reader@xn--bcher-kva.example");
    // A server may show the name in either form.
    const [recipient = ""] = mail.envelope?.to ?? ["reader@bücher.example"];
    expect(domainToASCII(recipient.replace(/^reader@/, ""))).toBe("xn--bcher-kva.example");
  });
}

function describeInjection(openMedium: OpenMailMedium): void {
  const test = mailerTests(openMedium);

  const recipients = [
    "reader@example.test\r\nBcc: other@example.test",
    "reader@example.test\nBcc: other@example.test",
    "reader@example.test\r\n\r\nAnother body",
    "reader@example.test>\r\nRCPT TO:<other@example.test",
    "reader@example.test, other@example.test",
    "reader@example.test other@example.test",
    "Reader <reader@example.test>",
    '"a@b.test"@example.test',
    "reader@example.test\0",
    "@example.test",
    "reader@",
    "reader",
    "",
  ];
  for (const to of recipients) {
    test(`refuses for good what is not one address: ${JSON.stringify(to)}`, async (mailer, medium) => {
      const error = await failureOf(mailer.send(mailOf({ to, text: "kept-to-itself" })));
      expect(error.permanent).toBe(true);
      expect(String(error.stack)).not.toContain("kept-to-itself");
      expect(error.message).not.toContain("other@example.test");
      expect(await medium.received()).toEqual([]);
    });
  }

  for (const subject of [
    "A\r\nBcc: other@example.test",
    "A\nX-Other: 1",
    "A\r\n\r\nbody",
    "A\rB",
    "A\0B\u0085C\u2028D",
  ]) {
    test(`keeps a subject in its header: ${JSON.stringify(subject)}`, async (mailer, medium) => {
      await mailer.send(mailOf({ subject }));
      const mail = await onlyMail(medium);
      const expected = ["auto-submitted", "content-transfer-encoding", "content-type", "date", "from"];
      expect(mail.headers.map(([name]) => name).toSorted()).toEqual(
        [...expected, "message-id", "mime-version", "subject", "to"].toSorted(),
      );
      expect(mail.text.trimEnd()).toBe(mailOf().text.trimEnd());
    });
  }

  it("refuses to open with a sender that is not one address", async () => {
    await using medium = await openMedium();
    for (const from of ["nobody", "a@example.test, b@example.test", "A <a@example.test>, b@example.test", "<>"]) {
      await expect(medium.open(from)).rejects.toThrow(/SERVICE_MAIL_FROM/);
    }
  });
}
