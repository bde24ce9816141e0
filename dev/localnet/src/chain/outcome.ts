/** From what commands did to what the chain holds afterwards: gas, versions, digests, effects. */
import { computationCost, gasUsed, type GasUsed, netCost, storageCost } from "./gas.ts";
import { type Execution, type ExecutionRequest, gasCoinContents, type Packages, runCommands } from "./executor.ts";
import { insufficientGas } from "./failures.ts";
import { type CommandOutput } from "./commands.ts";
import { COIN_OF_SUI, makeObject, type NewObject, type StoredObject } from "./objects.ts";
import type { EmittedEvent, Workspace } from "./workspace.ts";
import type { TransactionForm } from "./transaction-form.ts";
import type { InputObject } from "./inputs.ts";

/** One object that a transaction touched. */
export interface Change {
  readonly id: string;
  readonly before: StoredObject | null;
  readonly after: StoredObject | null;
}

export interface Outcome {
  readonly digest: string;
  readonly form: TransactionForm;
  readonly failure: Execution["failure"];
  readonly gasUsed: GasUsed;
  /** The version of everything that was written. */
  readonly lamportVersion: bigint;
  /** In the order of ids. */
  readonly changes: readonly Change[];
  /** Null when no real coin paid. */
  readonly gasObjectId: string | null;
  readonly events: readonly EmittedEvent[];
  readonly outputs: readonly CommandOutput[];
  /** Shared objects that were only read. */
  readonly readOnly: readonly StoredObject[];
}

export function executeTransaction(packages: Packages, request: ExecutionRequest): Outcome {
  const execution = runCommands(packages, request);
  const outcome = settle(packages, request, execution);
  const { budget } = request.form.gas;
  const isPaid = netCost(outcome.gasUsed) <= budget && outcome.gasUsed.computationCost < budget;
  if (outcome.failure !== null || isPaid) return outcome;
  // What it did costs more than was offered: it is undone, and the computation is paid.
  const workspace = undoneWorkspace(packages, request);
  const error = insufficientGas();
  return settle(packages, request, { ...execution, ...workspace, failure: { error, command: null } });
}

/** The inputs as they were: what a transaction without commands writes. */
function undoneWorkspace(packages: Packages, request: ExecutionRequest) {
  const { workspace, gasRest } = runCommands(packages, { ...request, form: { ...request.form, commands: [] } });
  return { workspace, gasRest, events: [], outputs: [] };
}

function settle({ layouts }: Packages, request: ExecutionRequest, execution: Execution): Outcome {
  const { form, digest, gasCoins } = request;
  const { workspace, failure } = execution;
  const known = knownObjects(request);
  const lamportVersion = 1n + [...known.values()].reduce((max, { version }) => (version > max ? version : max), 0n);
  const written = writtenObjects(workspace, lamportVersion, digest);
  const [gasCoin, ...smashed] = gasCoins;
  const removed = [...workspace.removed, ...smashed.map((coin) => coin.id)];
  const gasBefore = gasCoin === undefined ? null : newGasCoin(gasCoin, request, workspace, lamportVersion);
  const all = gasBefore === null ? written : [...written, gasBefore];
  const costs = new Map(all.map((object) => [object.id, storageCost(makeObject(object).bcs.length)]));
  const storage = [...costs.values()].reduce((sum, cost) => sum + cost, 0n);
  const touched = [...all.map((object) => object.id), ...removed];
  const rebates = touched.reduce((sum, id) => sum + (known.get(id)?.storageRebate ?? 0n), 0n);
  const computation = computationCost(execution.units, form.gas.price);
  const paid = failure === null ? computation : min(computation, form.gas.budget + rebates - storage);
  const used = gasUsed(paid, storage, rebates);
  const after = new Map(written.map((object) => [object.id, object]));
  if (gasBefore !== null && gasCoin !== undefined) {
    const value = execution.gasRest + form.gas.budget - netCost(used);
    const contents = gasCoinContents(gasCoin, value, layouts);
    after.set(gasCoin.id, {
      ...gasBefore,
      data: { kind: "move", type: COIN_OF_SUI, hasPublicTransfer: true, contents },
    });
  }
  const made = (id: string): StoredObject | null => {
    const object = after.get(id);
    return object === undefined ? null : makeObject({ ...object, storageRebate: costs.get(id) ?? 0n });
  };
  const changes = [...new Set(touched)]
    .sort()
    .map((id) => ({ id, before: known.get(id) ?? null, after: made(id) }))
    // What was made and used up in one transaction leaves no trace.
    .filter(({ before, after: next }) => before !== null || next !== null);
  return {
    digest,
    form,
    failure,
    gasUsed: used,
    lamportVersion,
    changes,
    gasObjectId: gasCoin?.id ?? null,
    events: execution.events,
    outputs: execution.outputs,
    readOnly: readOnlyObjects(request.inputs),
  };
}

function knownObjects({ inputs, gasCoins }: ExecutionRequest): Map<string, StoredObject> {
  const stored = inputs.flatMap((input) => (input === null ? [] : [input.stored]));
  return new Map([...stored, ...gasCoins].map((object) => [object.id, object]));
}

function readOnlyObjects(inputs: readonly (InputObject | null)[]): StoredObject[] {
  return inputs.flatMap((input) => (input?.access === "shared-read" ? [input.stored] : []));
}

function writtenObjects(workspace: Workspace, lamportVersion: bigint, digest: string): NewObject[] {
  return [...workspace.written.values()].map(({ id, owner, data }) => ({
    id,
    owner: owner === "newly-shared" ? { kind: "shared", initialVersion: lamportVersion } : owner,
    data,
    version: data.kind === "package" ? 1n : lamportVersion,
    previousTransaction: digest,
    storageRebate: 0n,
  }));
}

/** Its value is not known before its own storage is paid; its size does not depend on it. */
function newGasCoin(
  coin: StoredObject,
  { digest }: ExecutionRequest,
  workspace: Workspace,
  version: bigint,
): NewObject {
  const owner =
    workspace.gasRecipient === null ? coin.owner : ({ kind: "address", address: workspace.gasRecipient } as const);
  return { id: coin.id, owner, data: coin.data, version, previousTransaction: digest, storageRebate: 0n };
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
