/** {@link ChainAccess} over the ledger: what key servers see of the chain. */
import type { ChainAccess, ChainView, PutObject, Simulation } from "../chain-access.ts";
import { parseType } from "../move/types.ts";
import { MissingObjectError, RefusedError } from "./failures.ts";
import { REFERENCE_GAS_PRICE } from "./gas.ts";
import { PACKAGE_ID, SYSTEM_DIGEST } from "./genesis.ts";
import { referencedId } from "./inputs.ts";
import type { Ledger, LedgerView } from "./ledger.ts";
import { simulate } from "./node.ts";
import { makeObject, type StoredObject, toChainObject } from "./objects.ts";
import type { Outcome } from "./outcome.ts";
import { isPersonalMessageBy } from "./signatures.ts";
import { type CallArg, decodeProgrammable, type Programmable, type TransactionForm } from "./transaction-form.ts";

export function accessTo(ledger: Ledger, clock: () => number): ChainAccess {
  return {
    ...viewOf(ledger),
    packageId: PACKAGE_ID,
    now: clock,
    snapshot: () => viewOf(ledger.freeze()),
    verifyPersonalMessage: (message, signature, address) =>
      isPersonalMessageBy(message, signature, address, ledger.epoch),
    putObject: async (object) => {
      const stored = ledger.objects.get(object.id);
      if (stored !== undefined && isWritten(stored, object)) return asObject(stored);
      const made = newVersion(ledger, stored, object);
      ledger.put([made]);
      return asObject(made);
    },
  };
}

function viewOf(view: LedgerView): ChainView {
  return {
    chainId: view.chainId,
    checkpointTime: () => view.checkpointTime(),
    readObject: (id) => {
      const stored = view.objects.get(id);
      return stored === undefined ? null : toChainObject(stored);
    },
    readPackage: (id) => {
      const stored = view.objects.get(id);
      if (stored?.data.kind !== "package") return null;
      return { id, originalId: id, version: stored.version, modules: stored.data.modules };
    },
    simulateAs: (sender, bytes, budget) => simulateAs(view, { sender, bytes, budget }),
  };
}

function isWritten({ data, owner }: StoredObject, object: PutObject): boolean {
  return (
    data.kind === "move" &&
    Buffer.compare(data.contents, object.contents) === 0 &&
    JSON.stringify(owner, asText) === JSON.stringify(object.owner, asText)
  );
}

function asText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

function newVersion(ledger: Ledger, stored: StoredObject | undefined, object: PutObject): StoredObject {
  const { id, owner, contents } = object;
  if (`0x${Buffer.from(contents.subarray(0, 32)).toString("hex")}` !== id) {
    throw new RangeError(`the contents of ${id} do not begin with its id`);
  }
  const type = parseType(object.type);
  if (type.kind !== "datatype") throw new RangeError("an object's type is a struct");
  return makeObject({
    id,
    owner,
    version: (stored?.version ?? 0n) + 1n,
    previousTransaction: SYSTEM_DIGEST,
    storageRebate: 0n,
    data: { kind: "move", type, hasPublicTransfer: hasStore(ledger, type), contents },
  });
}

/** Types of packages that are not here have no known abilities; Seal's key server objects are not transferred. */
function hasStore(ledger: Ledger, type: Parameters<Ledger["layouts"]["abilitiesOf"]>[0]): boolean {
  try {
    return ledger.layouts.abilitiesOf(type).store;
  } catch {
    return false;
  }
}

function asObject(stored: StoredObject) {
  const object = toChainObject(stored);
  if (object === null) throw new TypeError("a package is put on the chain by publishing it");
  return object;
}

interface Call {
  readonly sender: string;
  readonly bytes: Uint8Array;
  readonly budget: bigint;
}

function simulateAs(view: LedgerView, { sender, bytes, budget }: Call): Simulation {
  try {
    const programmable = atNewestVersions(view, decodeProgrammable(bytes));
    const gas = { payment: [], owner: sender, price: REFERENCE_GAS_PRICE, budget };
    const form: TransactionForm = { ...programmable, sender, gas, expiration: { $kind: "None", None: true } };
    return simulationOf(simulate(view, form, { checks: false }));
  } catch (error) {
    if (error instanceof MissingObjectError) {
      return { outcome: "object_missing", objectId: error.objectId, message: error.message };
    }
    if (error instanceof RefusedError) return { outcome: "invalid", message: error.message };
    return { outcome: "invalid", message: error instanceof Error ? error.message : "unreadable" };
  }
}

function simulationOf({ failure }: Outcome): Simulation {
  if (failure === null) return { outcome: "succeeded" };
  const { abort, kind, message } = failure.error;
  if (kind === "INSUFFICIENT_GAS") return { outcome: "out_of_gas", message };
  if (abort === null) return { outcome: "invalid", message };
  const { module, function: name } = abort.location;
  return { outcome: "aborted", code: abort.code, module, function: name, message };
}

function atNewestVersions(view: LedgerView, { inputs, commands }: Programmable): Programmable {
  return { commands, inputs: inputs.map((input) => atNewestVersion(view, input)) };
}

function atNewestVersion(view: LedgerView, input: CallArg): CallArg {
  const id = referencedId(input);
  if (id === null || input.$kind !== "Object") return input;
  const stored = view.objects.get(id);
  if (stored === undefined) throw new MissingObjectError(id);
  const { Object: argument } = input;
  if (argument.$kind !== "ImmOrOwnedObject") return input;
  const ImmOrOwnedObject = { objectId: id, version: String(stored.version), digest: stored.digest };
  return { $kind: "Object", Object: { $kind: "ImmOrOwnedObject", ImmOrOwnedObject } };
}
