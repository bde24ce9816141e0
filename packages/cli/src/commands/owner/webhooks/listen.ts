import type { ReceivedEvent } from "@coffer/sdk";
import { isSubscribed } from "@coffer/contract";
import type { Context } from "../../../context.ts";
import { command, count, requiredText, text, texts } from "../../../declarations.ts";
import { exitOfFollowing } from "../../../exit-codes.ts";
import { done, written, type Result } from "../../../result.ts";
import { parseEvents } from "./events-flag.ts";
import { forward, forwardedLine, parseReceiver, signingSecret, type ForwardOutcome } from "./event-forwarder.ts";

export default command({
  brief: "Send the account's events to an address of this machine",
  description:
    "For a receiver in development, which the service cannot reach. Each event is signed as the service would sign it, with the secret that it prints first. Ctrl-C ends it (exit code 130).",
  examples: [
    { line: "coffer webhooks listen --forward-to http://127.0.0.1:3000/hook", does: "every event from now on" },
    {
      line: "coffer webhooks listen --forward-to http://127.0.0.1:3000/hook --events file.uploaded --count 1",
      does: "one event, then it ends",
    },
  ],
  flags: {
    forwardTo: requiredText("Address of the receiver", { placeholder: "URL" }),
    events: texts("Only these kinds, with commas", { placeholder: "KINDS" }),
    secretFile: text("Sign with the secret in this file; with a new one, which it prints, without it", {
      placeholder: "FILE",
    }),
    after: count("Begin after the change of this number; with new ones without it", 0),
    count: count("End after so many events; at Ctrl-C without it"),
  },
  isList: true,
  run: async (context, { forwardTo, events, secretFile, after, count: most = Number.POSITIVE_INFINITY }) => {
    const receiver = parseReceiver(forwardTo);
    const kinds = parseEvents(events ?? ["*"]);
    const secret = await signingSecret(context, secretFile);
    const client = await context.client();
    // On purpose: the receiver needs it, and it counts for this run alone.
    if (secretFile === undefined) await context.world.stderr.write(`Secret of this run: ${secret}\n`);
    const forwardedEvents: ForwardOutcome[] = [];
    context.printNote("Waiting for events; Ctrl-C ends it");
    const { signal } = context;
    for await (const event of client.events.follow({ signal, ...(after === undefined ? {} : { after }) })) {
      if (!isSubscribed(kinds, event.type)) continue;
      const forwarded = await forward(context, receiver, secret, { id: messageId(event), event });
      forwardedEvents.push(forwarded);
      await printForwarded(context, forwarded);
      if (forwardedEvents.length >= most) break;
    }
    return listenReport(context, forwardedEvents);
  },
});

/** The same for the same change, as the service's own ids are. */
const messageId = ({ data }: ReceivedEvent): string =>
  `msg_${data.accountId.replaceAll("-", "")}${String(data.sequence)}`;

async function printForwarded({ globals, write, writeLine }: Context, forwarded: ForwardOutcome): Promise<void> {
  if (globals.jsonLines) await writeLine(forwarded);
  else if (!globals.json) await write(`${forwardedLine(forwarded)}\n`);
}

function listenReport({ globals, world }: Context, forwardedEvents: readonly ForwardOutcome[]): Result {
  const exit = exitOfFollowing(world.interrupted);
  if (globals.jsonLines) return written(exit);
  const failed = forwardedEvents.filter(({ error }) => error !== "").length;
  return done(
    { forwarded: forwardedEvents },
    [`${String(forwardedEvents.length)} events, ${String(failed)} of them not taken`],
    { exit },
  );
}
