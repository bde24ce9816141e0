import { findKey, findVault, rewindHolder, untrusted, type AccessHolder, type Task } from "@coffer/tasks";
import type { Rewind, RewindStep } from "@coffer/sdk";
import { argument, command, requiredText, text, toggle } from "../../../declarations.ts";
import { EXIT } from "../../../exit-codes.ts";
import { done, type Document, type Shown } from "../../../result.ts";
import { sizeText } from "../../../terminal/visible.ts";
import { boundOf, LOOKS_BACK } from "../../../times.ts";

/** Lines of a plan that people see; programs get all of it. */
const MOST_SHOWN = 20;

export default command({
  brief: "Undo what an agent did since a time",
  description: `First the plan, then a question, then the acts. What others changed afterwards stays, and is named. After an interruption the same command goes on. ${LOOKS_BACK}`,
  examples: [
    { line: "coffer agents rewind 5f0c2a1e --since 2h --dry-run", does: "the plan alone" },
    { line: "coffer agents rewind 5f0c2a1e --since 2026-11-20T17:00Z --vault Team", does: "in one vault; asks first" },
  ],
  flags: {
    since: requiredText("From this time on", { placeholder: "TIME" }),
    until: text("Up to this time; now without it", { placeholder: "TIME" }),
    vault: text("Only in this vault; all without it"),
    dryRun: toggle("Show the plan, and change nothing"),
  },
  args: [argument("AGENT", "Id of its key, beginning of the id, name, or chain address")] as const,
  run: async (context, { since, until, vault, dryRun }, [who]) => {
    const { task, note } = context;
    const holder = await findActor(task, who);
    const wish = {
      since: boundOf(context, "--since", since),
      ...(until === undefined ? {} : { until: boundOf(context, "--until", until) }),
      ...(vault === undefined ? {} : { vaultId: (await findVault(task, vault)).id }),
    };
    const plan = await rewindHolder(task, holder, { ...wish, dryRun: true });
    if (dryRun || plan.steps.length === 0) return shown(plan);
    for (const line of planLines(plan)) note(line);
    await context.confirm(`Undo these ${String(plan.steps.length)} acts?`);
    const bar = context.progress("Undoing", "items");
    let count = 0;
    const onStep = ({ name }: RewindStep): void =>
      bar.update((count += 1), plan.steps.length, untrusted(name).visible());
    try {
      return shown(await rewindHolder(task, holder, { ...wish, dryRun: false, onStep }));
    } finally {
      bar.end();
    }
  },
});

/** A key that has ended counts too: that is when its acts are looked at. */
async function findActor(task: Task, text: string): Promise<AccessHolder> {
  const wanted = text.trim().toLowerCase();
  if (/^0x[0-9a-f]{64}$/.test(wanted)) return { kind: "address", chainAddress: wanted, vaultIds: [] };
  return { kind: "key", key: await findKey(task, text) };
}

function shown(rewind: Rewind): Document {
  const isRun = !rewind.dryRun;
  const lines = [...planLines(rewind), ...(isRun ? [] : ["This is the plan. Nothing was changed."])];
  return done(rewind, lines, { exit: isRun && rewind.left.length > 0 ? EXIT.someFailed : EXIT.done });
}

function planLines({ dryRun, rows, counts, bytes, steps, left, listed }: Rewind): Shown[] {
  const said = Object.entries(counts).flatMap(([act, count]) => (count === 0 ? [] : [`${act} ${String(count)}`]));
  const total = said.length === 0 ? "nothing" : `${said.join(", ")} (${sizeText(bytes)} of content)`;
  return [
    `${String(rows)} changes. ${dryRun ? "To undo" : "Undone"}: ${total}`,
    ...steps.slice(0, MOST_SHOWN).map(({ act, kind, id, name }) => untrusted(`  ${act} ${kind} ${id} ${name}`)),
    ...more(steps.length),
    ...(left.length === 0 ? [] : [`Left alone: ${String(left.length)}`]),
    ...left.slice(0, MOST_SHOWN).map(({ kind, id, reason }) => untrusted(`  ${kind} ${id}: ${reason}`)),
    ...more(left.length),
    ...(listed.length === 0 ? [] : [`Not undone, acts on vaults and keys: ${String(listed.length)} (coffer changes)`]),
  ];
}

const more = (count: number): string[] =>
  count <= MOST_SHOWN ? [] : [`  … and ${String(count - MOST_SHOWN)} more (--json has them all)`];
