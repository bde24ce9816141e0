/** One mail as bytes (RFC 5322), and the envelope it travels in. Both drivers hand over exactly this. */
import addressparser from "nodemailer/lib/addressparser";
import MimeNode from "nodemailer/lib/mime-node";
import { type Mail, MailError } from "../../ports/mailer.ts";

/** The sender, as SERVICE_MAIL_FROM names it. */
export interface Sender {
  readonly name: string;
  readonly address: string;
}

export interface Message {
  readonly envelope: { readonly from: string; readonly to: string[] };
  readonly bytes: Buffer;
}

/**
 * What an envelope and a header may hold so that it has one reading only. An address with a comma, brackets, quotes,
 * white space or a line break could be read as two, or end its header (CWE-93).
 */
const ONE_ADDRESS = /^[^\s\p{Cc}()<>[\]:;,"\\@]{1,64}@[^\s\p{Cc}()<>[\]:;,"\\@]{1,255}$/u;
/** Printable ASCII in lines that a server must take (RFC 5322 §2.1.1: 998 characters) needs no encoding. */
const PLAIN_LINE = /^[\t\x20-\x7e]{0,998}$/;

/** Throws for anything but one address with or without a name. */
export function readSender(from: string): Sender {
  const [sender, ...others] = addressparser(from, { flatten: true });
  if (sender === undefined || others.length > 0 || !ONE_ADDRESS.test(sender.address)) {
    throw new Error("SERVICE_MAIL_FROM: expected one mail address, such as Coffer <mail@example.com>");
  }
  return { name: sender.name, address: sender.address };
}

/** `at`: milliseconds since the Unix epoch; `id`: a UUID. Rejects with a permanent MailError for no usable recipient. */
export async function renderMessage(
  mail: Mail,
  { sender, at, id }: { readonly sender: Sender; readonly at: number; readonly id: string },
): Promise<Message> {
  if (!ONE_ADDRESS.test(mail.to)) throw new MailError("The recipient is not a mail address", { permanent: true });
  const node = new MimeNode("text/plain; charset=utf-8", { disableFileAccess: true, disableUrlAccess: true });
  node.setHeader({
    from: { ...sender },
    // An object counts as one address; text would be parsed for several.
    to: { name: "", address: mail.to },
    subject: mail.subject.replace(/[\s\p{Cc}]+/gu, " "),
    date: new Date(at).toUTCString().replace("GMT", "+0000"),
    "message-id": `<${id}@${sender.address.slice(sender.address.indexOf("@") + 1)}>`,
    // RFC 3834 §5: nobody's holiday notice shall answer.
    "auto-submitted": "auto-generated",
  });
  const { from, to } = node.getEnvelope();
  if (from === false || to.length !== 1) {
    throw new MailError("The recipient is not a mail address", { permanent: true });
  }
  return { envelope: { from, to: [...to] }, bytes: await renderBody(node, mail.text) };
}

/**
 * Plain ASCII goes as it is, even if a line is longer than the 78 characters that RFC 5322 recommends. Nobody can copy
 * a link that quoted-printable cut out of an outbox file.
 */
async function renderBody(node: MimeNode, text: string): Promise<Buffer> {
  const lines = text.split(/\r\n|\r|\n/);
  if (!lines.every((line) => PLAIN_LINE.test(line))) return node.setContent(lines.join("\r\n")).build();
  node.setHeader("content-transfer-encoding", "7bit");
  return Buffer.from(`${node.buildHeaders()}\r\n\r\n${lines.join("\r\n")}`);
}
