/** Undoes what one actor did (decision 0058): a plan from the state of things, then the same plan executed. */
import { accountGroup } from "@coffer/contract/account";
import { apiKeysGroup } from "@coffer/contract/api-keys";
import { callOn } from "../call.ts";
import type { Connection } from "../options.ts";
import { actorOf, readActs } from "./acts.ts";
import { Execution } from "./execute.ts";
import { type PlannedStep, planRewind } from "./plan.ts";
import { bytesOf, countsOf, type Rewind, type RewindInput, type RewindOptions, type RewindStep } from "./report.ts";

export async function rewind(connection: Connection, input: RewindInput, options: RewindOptions = {}): Promise<Rewind> {
  const { keyId, chainAddress, dryRun = false } = input;
  if ((keyId === undefined) === (chainAddress === undefined))
    throw new TypeError("agents.rewind: name the actor by keyId or by chainAddress, one of them");
  const actor = actorOf(input);
  await requireRight(connection, input, options);
  const acts = await readActs(connection, input, options);
  const plan = await planRewind(connection, acts, actor);
  const { done, left } = dryRun
    ? { done: plan.steps, left: [] }
    : await new Execution(connection, options).run(plan.steps);
  const steps = done.map(told);
  return {
    ...{ dryRun, rows: acts.count, bytes: bytesOf(steps), counts: countsOf(steps), steps },
    ...{ left: [...plan.left, ...left], listed: acts.listed },
  };
}

function told({ kind, id, vaultId, name, act, bytes }: PlannedStep): RewindStep {
  return { kind, id, vaultId, name, act, bytes };
}

/** An agent rewinds itself alone. The service refuses it others' keys, so the refusal is the service's. */
async function requireRight(
  connection: Connection,
  { keyId, chainAddress }: RewindInput,
  { signal }: RewindOptions,
): Promise<void> {
  const { account, credential } = await callOn(connection, accountGroup.get, {}, { signal });
  if (account.accessLevel === "owner") return;
  const isSelf = keyId === undefined ? credential.chainAddress === chainAddress : credential.id === keyId;
  if (!isSelf) await callOn(connection, apiKeysGroup.list, { query: { limit: 1 } }, { signal });
}
