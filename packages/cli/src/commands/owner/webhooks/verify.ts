import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Context } from "../../../context.ts";
import { command, count, requiredText, verbatim } from "../../../declarations.ts";
import { exitOfVerdict } from "../../../exit-codes.ts";
import { usage } from "../../../failure.ts";
import { done, type Document } from "../../../result.ts";

export default command({
  brief: "Check the signature of a delivery",
  description:
    "It takes what a receiver has kept: the headers, and the body byte for byte. Nothing is sent. It exits with 1 when the signature does not hold.",
  examples: [
    {
      line: "coffer webhooks verify --secret-file hook.secret --header 'webhook-id: msg_1' --header 'webhook-timestamp: 1795000000' --header 'webhook-signature: v1,c2ln' --body delivery.json",
      does: "the three headers",
    },
    {
      line: "coffer webhooks verify --secret-file hook.secret --header @headers.txt --body - --tolerance 1000000",
      does: "headers from a file, the body from standard input, of an old one",
    },
  ],
  flags: {
    secretFile: requiredText("File with the webhook's secret", { placeholder: "FILE" }),
    header: verbatim("A header as it came, or @FILE with all of them", { placeholder: "NAME: VALUE" }),
    body: requiredText("File with the body; - reads standard input", { placeholder: "FILE" }),
    tolerance: count("Seconds that the clocks may differ; 300 without it", 0),
  },
  run: async (context, { secretFile, header = [], body, tolerance }) => {
    const { world } = context;
    const secrets = (await read(context, secretFile)).toString("utf8").trim();
    const delivered = {
      secrets,
      headers: headersOf(await headerLines(context, header)),
      now: () => world.now(),
      body: await read(context, body),
      toleranceSeconds: tolerance,
    };
    const { verifyWebhook, WebhookVerificationError } = await import("@coffer/sdk/webhooks");
    try {
      const event = await verifyWebhook(delivered);
      return done({ valid: true, event }, [`The signature holds. It is ${event.type} of ${event.timestamp}`]);
    } catch (thrown) {
      if (thrown instanceof WebhookVerificationError) return refusalReport(thrown);
      if (thrown instanceof TypeError) throw usage("The file holds no secret of a webhook", `look into ${secretFile}`);
      throw thrown;
    }
  },
});

const refusalReport = ({ reason, message }: { readonly reason: string; readonly message: string }): Document =>
  done({ valid: false, reason, message }, [`The signature does not hold: ${message} (${reason})`], {
    exit: exitOfVerdict(false),
  });

const read = async ({ signal, world }: Context, file: string): Promise<Buffer> =>
  file === "-" ? Buffer.from(await world.stdin.readAll(signal)) : await readFile(resolve(world.workingDirectory, file));

async function headerLines(context: Context, flagTexts: readonly string[]): Promise<string[]> {
  const parts = flagTexts.map(async (each) =>
    each.startsWith("@") ? (await read(context, each.slice(1))).toString("utf8").split(/\r?\n/) : [each],
  );
  return (await Promise.all(parts)).flat();
}

/** Lines that are no headers, such as the first one of an answer, are left out. */
function headersOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value] = /^([\w-]+):\s*(.*?)\s*$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value]];
    }),
  );
}
