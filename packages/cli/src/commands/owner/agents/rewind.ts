import { findKey, findVault, rewindHolder, untrusted, type AccessHolder, type Task } from "@coffer/tasks";
import type { Change, Rewind, RewindLeft, RewindStep } from "@coffer/sdk";
import type { Context } from "../../../context.ts";
import { argument, command, requiredText, text, toggle } from "../../../declarations.ts";
import { exitOfActs } from "../../../exit-codes.ts";
import { done, type Document, type Printable } from "../../../result.ts";
import { textOfCode } from "../../../failure-texts.ts";
import { sizeText, timeText } from "../../../terminal/visible.ts";
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
    const { task, printNote } = context;
    const holder = await findActor(task, who);
    const request = {
      since: boundOf(context, "--since", since),
      ...(until === undefined ? {} : { until: boundOf(context, "--until", until) }),
      ...(vault === undefined ? {} : { vaultId: (await findVault(task, vault)).id }),
    };
    const plan = await rewindHolder(task, holder, { ...request, dryRun: true });
    if (dryRun || plan.steps.length === 0) return await rewindReport(context, plan);
    for (const line of await planLines(context, plan)) printNote(line);
    await context.confirm(`Undo these ${String(plan.steps.length)} acts?`);
    const bar = context.progress("Undoing", "items");
    let count = 0;
    const onStep = ({ name }: RewindStep): void =>
      bar.update((count += 1), plan.steps.length, untrusted(name).visible());
    try {
      return await rewindReport(context, await rewindHolder(task, holder, { ...request, dryRun: false, onStep }));
    } finally {
      bar.end();
    }
  },
});

/** A key that has ended counts too: that is when its acts are looked at. */
async function findActor(task: Task, text: string): Promise<AccessHolder> {
  const id = text.trim().toLowerCase();
  if (/^0x[0-9a-f]{64}$/.test(id)) return { kind: "address", chainAddress: id, vaultIds: [] };
  return { kind: "key", key: await findKey(task, text) };
}

async function rewindReport(context: Context, rewind: Rewind): Promise<Document> {
  const isRun = !rewind.dryRun;
  const lines = [...(await planLines(context, rewind)), ...(isRun ? [] : ["This is the plan. Nothing was changed."])];
  return done(rewind, lines, { exit: exitOfActs(isRun ? rewind.left.length : 0) });
}

async function planLines(
  context: Context,
  { dryRun, rows, counts, bytes, steps, left, claimedAddress, listed }: Rewind,
): Promise<Printable[]> {
  const totals = Object.entries(counts).flatMap(([act, count]) => (count === 0 ? [] : [`${act} ${String(count)}`]));
  const total = totals.length === 0 ? "nothing" : `${totals.join(", ")} (${sizeText(bytes)} of content)`;
  const folders = await folderNames(context, steps.slice(0, MOST_SHOWN));
  return [
    `${String(rows)} changes. ${dryRun ? "To undo" : "Undone"}: ${total}`,
    ...steps.slice(0, MOST_SHOWN).map((step) => untrusted(`  ${stepText(step, folders)}`)),
    ...more(steps.length),
    ...(left.length === 0 ? [] : [`Left alone: ${String(left.length)}`]),
    ...left.slice(0, MOST_SHOWN).map((each) => untrusted(`  ${leftAloneText(each)}`)),
    ...more(left.length),
    ...(claimedAddress === null ? [] : [untrusted(claimedAddressText(claimedAddress))]),
    ...(listed.length === 0 ? [] : [`Not undone, acts on vaults, members and keys: ${String(listed.length)}`]),
    ...listed.slice(0, MOST_SHOWN).map((each) => untrusted(`  ${actText(each)}`)),
    ...more(listed.length),
  ];
}

function claimedAddressText(address: string): string {
  return `The service says that the key has the address ${address}. If you know it as the agent's, name the agent by it.`;
}

/** Of the folders that moves lead back to, by their ids. One that cannot be read any more has none. */
async function folderNames(
  { client, signal }: Context,
  steps: readonly RewindStep[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const { to } of steps) {
    if (to === null || to.parentId === null || names.has(to.parentId)) continue;
    const folder = await (await client()).folders.get(to.parentId, { signal }).catch(() => null);
    if (folder !== null) names.set(folder.id, folder.name);
  }
  return names;
}

function stepText({ act, kind, id, name, to }: RewindStep, folders: ReadonlyMap<string, string>): string {
  if (to === null) return `${act} ${kind} ${id} ${name}`;
  const where =
    to.parentId === null ? "at the top of the vault" : `in the folder ${folders.get(to.parentId) ?? to.parentId}`;
  return `${act} ${kind} ${id} ${name} back to ${to.name} ${where}`;
}

/** What was not undone, why, and what to do about it. */
function leftAloneText({ kind, id, name, act, reason }: RewindLeft): string {
  const what = [act, kind, id, name].filter((each) => each !== null && each !== "").join(" ");
  return `${what}: ${reasonText(kind, id, reason)} (${reason})`;
}

function reasonText(kind: RewindLeft["kind"], id: string, reason: string): string {
  const inspectCommand = kind === "file" ? `coffer stat ${id} and coffer versions list ${id}` : `coffer stat ${id}`;
  const reasons: Readonly<Record<string, string>> = {
    changed_since: `somebody else changed it afterwards. Look at it: ${inspectCommand}`,
    not_kept: "its former state is no longer kept",
    gone: "it was deleted for good",
    not_empty: "the folder holds what others put there",
    trashed: `somebody else put it in the trash. To get it back: coffer trash restore ${id}`,
    address_needed:
      "in a shared vault, only a chain address shows who acted. Name the agent by its address: coffer agents list",
    unverified: `the service says that the agent did this, and nothing that the agent signed shows it. Look at it, and put it right by hand: ${inspectCommand}`,
  };
  return reasons[reason] ?? textOfCode(reason).message;
}

function actText({ kind, occurredAt, object: { type, id } }: Change): string {
  return `${timeText(occurredAt)} ${kind} ${type} ${id}`;
}

const more = (count: number): string[] =>
  count <= MOST_SHOWN ? [] : [`  … and ${String(count - MOST_SHOWN)} more (--json has them all)`];
