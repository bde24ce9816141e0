import { describeDecision, findVault, saveInvite, untrustedText } from "@coffer/tasks";
import type { NewInvite, Scope } from "@coffer/sdk";
import { AGENT_SCOPES, INVITE_HOURS } from "@coffer/contract";
import type { Context } from "../../../context.ts";
import { command, parsed, requiredText, text, texts, toggle } from "../../../declarations.ts";
import { done, type Document } from "../../../result.ts";
import { timeText } from "../../../terminal/visible.ts";
import { endOf, endText, LOOKS_FORWARD, printEnd } from "../../../times.ts";
import { BUDGET_BRIEF, parseBudgets } from "../budget-flag.ts";
import { parseScopes } from "../scopes-flag.ts";
import { deliverSecret, TO_FILE } from "../secret-file.ts";
import { promptLines } from "./prompt.ts";

export default command({
  brief: "Create an invite for an agent",
  description: `Its code works once. The agent makes its own chain key with it, which you never see. In a shared vault it reads and writes once you have added its address. ${LOOKS_FORWARD}`,
  examples: [
    {
      line: "coffer invites create --name bot --scopes files:read,files:write --vaults Team --expires 1",
      does: "prints the code",
    },
    { line: "coffer invites create --name bot --vaults Team --prompt", does: "prints what to paste to the agent" },
    {
      line: "coffer invites create --name bot --access-until 3d --budget storedBytes=1GiB,filesPerDay=100",
      does: "its key ends in three days",
    },
  ],
  flags: {
    name: requiredText("Name of the agent"),
    scopes: texts("What it may do, with commas; all that agents may without it", { placeholder: "SCOPES" }),
    vaults: texts("Its vaults, with commas: ids or names; all of the account without it", { placeholder: "VAULTS" }),
    expires: parsed(
      `Hours until the code ends: ${String(INVITE_HOURS.standard)} without it, at most ${String(INVITE_HOURS.maximum)}`,
      parseHours,
      { placeholder: "HOURS" },
    ),
    accessUntil: text("When its key and memberships end; never without it", { placeholder: "TIME" }),
    budget: texts(BUDGET_BRIEF, { placeholder: "LIMITS" }),
    prompt: toggle("Print the text to paste to the agent"),
    ...TO_FILE,
  },
  run: async (context, flags) => {
    const { task, signal, world } = context;
    const { name, scopes, expires, accessUntil, toFile } = flags;
    const vaults = await Promise.all((flags.vaults ?? []).map((each) => findVault(task, each)));
    const budgets = parseBudgets(flags.budget);
    const end = accessUntil === undefined ? undefined : endOf(context, "--access-until", accessUntil);
    const request = {
      name,
      ...(scopes === undefined ? {} : { scopes: parseScopes<Scope>(scopes, AGENT_SCOPES) }),
      ...(vaults.length === 0 ? {} : { vaultIds: vaults.map(({ id }) => id) }),
      ...(expires === undefined ? {} : { expiresInHours: expires }),
      ...(end === undefined ? {} : { accessUntil: end }),
      ...(budgets === undefined ? {} : { budgets }),
    };
    const client = await context.client();
    if (end !== undefined) printEnd(context, end);
    const decision = await describeDecision(client, request, world.now(), signal);
    const { created, file } = await deliverSecret(
      context,
      toFile,
      () => client.invites.create(request, { signal }),
      (invite) => invite.text,
    );
    // Kept until the agent is let in: agents list --approve asks this, and not the service, what was decided.
    await saveInvite(world.env, created.id, created.text, decision);
    return await inviteReport(context, created, file, flags.prompt);
  },
});

async function inviteReport(
  context: Context,
  { text: code, ...made }: NewInvite,
  file: string | null,
  isPrompt: boolean,
): Promise<Document> {
  const prompt = isPrompt ? await promptLines(context, { name: made.name, code, file }) : [];
  const invite = { ...made, ...(file === null ? { code } : { code: null }) };
  const json = { invite, file, ...(isPrompt ? { prompt: prompt.join("\n") } : {}) };
  const inviteFacts = [
    file === null ? code : `The code is in ${file}`,
    `It works once, until ${timeText(made.expiresAt)}. Give it to the agent over a private channel.`,
    `The agent's access ends: ${endText(made.accessUntil)}`,
    "Then let it in: coffer agents list --approve",
  ];
  return done(json, isPrompt ? prompt.map(untrustedText) : inviteFacts, { reveals: file === null ? [code] : [] });
}

function parseHours(typed: string): number {
  const hours = Number(typed);
  if (typed.trim() !== "" && hours > 0 && hours <= INVITE_HOURS.maximum) return hours;
  throw new Error(`expected hours, at most ${String(INVITE_HOURS.maximum)}`);
}
