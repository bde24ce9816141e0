/** Undoes what one actor did (decisions 0058 and 0119): a plan from the state of things, then the same plan executed. */
import { accountGroup, apiKeysGroup, type Credential } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { Connection } from "../connection/options.ts";
import { type Actor, actorOf, readHistory } from "./actor-history.ts";
import { Execution, type ExecutionResult } from "./execution.ts";
import { type Plan, type PlannedStep, planRewind } from "./plan.ts";
import { bytesOf, countsOf, type Rewind, type RewindInput, type RewindOptions, type RewindStep } from "./report.ts";

export async function rewind(connection: Connection, input: RewindInput, options: RewindOptions = {}): Promise<Rewind> {
  const { keyId, chainAddress, dryRun = false } = input;
  if ((keyId === undefined) === (chainAddress === undefined))
    throw new TypeError("agents.rewind: name the actor by keyId or by chainAddress, one of them");
  const actor = actorOf(input);
  const credential = await requireRight(connection, input, options);
  const history = await readHistory(connection, input, options);
  const plan = await planRewind(connection, history.touched, { actor, call: { signal: options.signal } });
  const { done, left } = dryRun
    ? { done: plan.steps, left: plan.left }
    : await execute({ connection, input, options, actor }, plan);
  const steps = done.map(stepOf);
  return {
    dryRun,
    rows: history.count,
    bytes: bytesOf(steps),
    counts: countsOf(steps),
    steps,
    left,
    claimedAddress:
      keyId !== undefined && left.some(({ reason }) => reason === "address_needed")
        ? await claimedAddressOf(connection, keyId, credential, options)
        : null,
    listed: history.listed,
  };
}

interface Work {
  readonly connection: Connection;
  readonly input: RewindInput;
  readonly options: RewindOptions;
  readonly actor: Actor;
}

/**
 * What a step leaves is no longer as it was planned. An act of another rewind may have come late, or somebody has changed
 * it. So it is planned anew once. What is left then stays.
 */
async function execute({ connection, input, options, actor }: Work, plan: Plan): Promise<ExecutionResult> {
  const first = await new Execution(connection, options).run(plan.steps);
  const left = [...plan.left, ...first.left];
  if (first.left.length === 0) return { done: first.done, left };
  const ids = new Set(first.left.map(({ id }) => id));
  const items = (await readHistory(connection, input, options)).touched.filter(({ id }) => ids.has(id));
  const anew = await planRewind(connection, items, { actor, call: { signal: options.signal } });
  const second = await new Execution(connection, options).run(anew.steps);
  const planned = new Set(items.map(({ id }) => id));
  const stays = left.filter(({ id }) => !planned.has(id));
  return { done: [...first.done, ...second.done], left: [...stays, ...anew.left, ...second.left] };
}

function stepOf({ kind, id, vaultId, name, act, to, bytes }: PlannedStep): RewindStep {
  return { kind, id, vaultId, name, act, to, bytes };
}

/** An agent rewinds itself alone. The service refuses it others' keys, so the refusal is the service's. */
async function requireRight(
  connection: Connection,
  { keyId, chainAddress }: RewindInput,
  { signal }: RewindOptions,
): Promise<Credential> {
  const { account, credential } = await callOn(connection, accountGroup.get, {}, { signal });
  if (account.accessLevel === "owner") return credential;
  const isSelf = keyId === undefined ? credential.chainAddress === chainAddress : credential.id === keyId;
  if (!isSelf) await callOn(connection, apiKeysGroup.list, { query: { limit: 1 } }, { signal });
  return credential;
}

/** By the service's word. An agent's key may not list keys, and asks about itself alone. */
async function claimedAddressOf(
  connection: Connection,
  keyId: string,
  credential: Credential,
  { signal }: RewindOptions,
): Promise<string | null> {
  if (credential.id === keyId) return credential.chainAddress;
  for (let cursor: string | undefined; ;) {
    const page = await callOn(connection, apiKeysGroup.list, { query: { cursor } }, { signal });
    const key = page.apiKeys.find(({ id }) => id === keyId);
    if (key !== undefined) return key.chainAddress;
    if (page.nextCursor === null) return null;
    cursor = page.nextCursor;
  }
}
