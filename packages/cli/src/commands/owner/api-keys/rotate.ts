import { findKey } from "@coffer/tasks";
import { argument, command, count } from "../../../declarations.ts";
import { deliverSecret, TO_FILE } from "../secret-file.ts";
import { newKeyReport } from "./new-key-report.ts";

export default command({
  brief: "Replace an API key by a new one with the same rights",
  examples: [
    { line: "coffer api-keys rotate ci --overlap-hours 24 --to-file new.key", does: "the old one ends in a day" },
  ],
  flags: { overlapHours: count("Hours until the old one ends, up to 168; at once without it", 0), ...TO_FILE },
  args: [argument("KEY", "Id, beginning of the id, or name")] as const,
  run: async (context, { overlapHours, toFile }, [text]) => {
    const { id } = await findKey(context.task, text);
    const when = overlapHours === undefined ? "at once" : `in ${String(overlapHours)} hours`;
    await context.confirm(`Replace the key ${id}? The old one ends ${when}.`);
    const client = await context.client();
    const words = overlapHours === undefined ? {} : { overlapHours };
    const rotate = () => client.apiKeys.rotate(id, words, { signal: context.signal });
    return newKeyReport(await deliverSecret(context, toFile, rotate, ({ key }) => key));
  },
});
