import { randomUUID } from "node:crypto";
import { argument, command, requiredText, text } from "../../../declarations.ts";
import { exitOfVerdict } from "../../../exit-codes.ts";
import { usage } from "../../../failure.ts";
import { done } from "../../../result.ts";
import { forward, forwardedLine, parseReceiver, signingSecret } from "./event-forwarder.ts";

export default command({
  brief: "Send a made-up event to an address of this machine",
  description: "The example of the service's own catalogue, signed. It changes nothing and goes to that address alone.",
  examples: [
    {
      line: "coffer webhooks trigger file.uploaded --forward-to http://127.0.0.1:3000/hook --secret-file hook.secret",
      does: "exits with 1 when the receiver did not take it",
    },
  ],
  flags: {
    forwardTo: requiredText("Address of the receiver", { placeholder: "URL" }),
    secretFile: text("Sign with the secret in this file; with a new one, which it prints, without it", {
      placeholder: "FILE",
    }),
  },
  args: [argument("EVENT", "Kind of the event, such as file.uploaded")] as const,
  run: async (context, { forwardTo, secretFile }, [kind]) => {
    const receiver = parseReceiver(forwardTo);
    const secret = await signingSecret(context, secretFile);
    const kinds = await (await context.client()).webhooks.eventKinds({ signal: context.signal });
    const example = kinds.find((each) => each.kind === kind)?.example;
    if (example === undefined)
      throw usage(`There is no such event: ${kind}`, `name one of ${kinds.map((each) => each.kind).join(", ")}`);
    if (secretFile === undefined) await context.world.stderr.write(`Secret of this run: ${secret}\n`);
    const event = { ...example, type: kind, timestamp: new Date(context.world.now()).toISOString() };
    const message = { id: `msg_${randomUUID().replaceAll("-", "")}`, event };
    const forwarded = await forward(context, receiver, secret, message);
    return done({ forwarded, event }, [forwardedLine(forwarded)], {
      exit: exitOfVerdict(forwarded.error === ""),
    });
  },
});
