import { untrusted } from "@coffer/tasks";
import { command, parsed } from "../../../declarations.ts";
import { exitOfVerdict } from "../../../exit-codes.ts";
import { done } from "../../../result.ts";

export default command({
  brief: "Check that no entry of the log was altered",
  description:
    "Reads the whole log and checks its chain of hashes. Keep the newest entry that it prints in a place of your own, and pass it with --expect next time.",
  examples: [
    { line: "coffer audit verify", does: "exits with 1 and names the first altered entry" },
    {
      line: "coffer audit verify --expect 812:4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce",
      does: "also shows a log that was rewritten whole",
    },
  ],
  flags: { expect: parsed("An entry that you kept: its number and hash", parseLink, { placeholder: "NUMBER:HASH" }) },
  run: async ({ client, signal }, { expect }) => {
    const words = { signal, ...(expect === undefined ? {} : { expect }) };
    const verdict = await (await client()).audit.verify(words);
    const { entries, newest, fault } = verdict;
    const lines = [
      fault === null
        ? `The log is whole: ${String(entries)} entries`
        : untrusted(`The log was altered. Entry ${String(fault.sequence)}: ${fault.reason}`),
      ...(newest === null ? [] : [`newest: ${String(newest.sequence)}:${newest.hash}`]),
    ];
    return done({ intact: fault === null, ...verdict }, lines, { exit: exitOfVerdict(fault === null) });
  },
});

function parseLink(text: string): { readonly sequence: number; readonly hash: string } {
  const [, sequence, hash] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text.trim()) ?? [];
  if (sequence === undefined || hash === undefined) throw new Error("expected a number, a colon and 64 hex digits");
  return { sequence: Number(sequence), hash: hash.toLowerCase() };
}
