/** What a transaction did, as `sui.rpc.v2.ExecutedTransaction`; an executed one is kept in this form. */
import { toBase58 } from "@mysten/bcs";
import { bcs } from "@mysten/sui/bcs";
import { GrpcTypes } from "@mysten/sui/grpc";
import type { LedgerView } from "../chain/ledger.ts";
import { balanceOf, hashOf, isCoin, ownerToBcs, type StoredObject } from "../chain/objects.ts";
import type { Change, Outcome } from "../chain/outcome.ts";
import { encodeTransaction } from "../chain/transaction-form.ts";
import { renderType, structTagOf } from "../move/types.ts";
import { statusInBcs, statusMessage } from "./failure-messages.ts";
import { jsonOf } from "./json-values.ts";
import { ownerMessage, typeName } from "./object-messages.ts";
import { transactionMessage } from "./transaction-messages.ts";

const { ChangedObject_InputObjectState, ChangedObject_OutputObjectState, ChangedObject_IdOperation } = GrpcTypes;

/** Rust: crates/sui-types/src/event.rs */
const EVENTS = bcs.vector(
  bcs.struct("Event", {
    packageId: bcs.Address,
    transactionModule: bcs.string(),
    sender: bcs.Address,
    type: bcs.StructTag,
    contents: bcs.byteVector(),
  }),
);

/** Null signatures: a simulation, which is in no checkpoint. */
export function executedMessage(
  outcome: Outcome,
  view: LedgerView,
  signatures: readonly Uint8Array[] | null,
): GrpcTypes.ExecutedTransaction {
  const { form, digest } = outcome;
  const time = view.checkpointTime();
  const events = eventsMessage(outcome, view);
  const message: GrpcTypes.ExecutedTransaction = {
    digest,
    transaction: transactionMessage(form, encodeTransaction(form), digest),
    signatures: (signatures ?? []).map((value) => ({ bcs: { value }, signature: { oneofKind: undefined } })),
    effects: effectsMessage(outcome, view, events.digest ?? null),
    events,
    balanceChanges: balanceChanges(outcome.changes),
    timestamp: timestampMessage(time),
  };
  if (signatures !== null) message.checkpoint = BigInt(view.height + 1);
  return message;
}

export function timestampMessage(milliseconds: number): { seconds: bigint; nanos: number } {
  return { seconds: BigInt(Math.floor(milliseconds / 1000)), nanos: Math.floor(milliseconds % 1000) * 1_000_000 };
}

function effectsMessage(outcome: Outcome, view: LedgerView, eventsDigest: string | null): GrpcTypes.TransactionEffects {
  const { digest, changes, gasUsed, gasObjectId, lamportVersion, failure } = outcome;
  const value = effectsInBcs(outcome, view.epoch, eventsDigest);
  const changedObjects = changes.map(changeMessage);
  const gasObject = changedObjects.find((change) => change.objectId === gasObjectId);
  const message: GrpcTypes.TransactionEffects = {
    bcs: { name: "TransactionEffects", value },
    digest: toBase58(hashOf("TransactionEffects", value)),
    version: 2,
    status: statusMessage(failure, view.findModule),
    epoch: BigInt(view.epoch),
    gasUsed,
    transactionDigest: digest,
    dependencies: dependenciesOf(outcome),
    lamportVersion,
    changedObjects,
    unchangedConsensusObjects: outcome.readOnly.map((object) => ({
      kind: GrpcTypes.UnchangedConsensusObject_UnchangedConsensusObjectKind.READ_ONLY_ROOT,
      objectId: object.id,
      version: object.version,
      digest: object.digest,
      objectType: typeName(object),
    })),
    unchangedLoadedRuntimeObjects: [],
  };
  if (eventsDigest !== null) message.eventsDigest = eventsDigest;
  return gasObject === undefined ? message : { ...message, gasObject };
}

function dependenciesOf({ changes, readOnly }: Outcome): string[] {
  const before = changes.flatMap((change) => change.before ?? []);
  return [...new Set([...before, ...readOnly].map((object) => object.previousTransaction))].sort();
}

function changeMessage({ id, before, after }: Change): GrpcTypes.ChangedObject {
  const message: GrpcTypes.ChangedObject = {
    objectId: id,
    inputState: ChangedObject_InputObjectState[before === null ? "DOES_NOT_EXIST" : "EXISTS"],
    outputState: ChangedObject_OutputObjectState[outputState(after)],
    idOperation: ChangedObject_IdOperation[before === null ? "CREATED" : after === null ? "DELETED" : "NONE"],
  };
  if (before !== null) {
    const { version, digest, owner } = before;
    Object.assign(message, { inputVersion: version, inputDigest: digest, inputOwner: ownerMessage(owner) });
  }
  if (after !== null) {
    const { version, digest, owner } = after;
    Object.assign(message, { outputVersion: version, outputDigest: digest, outputOwner: ownerMessage(owner) });
  }
  const object = after ?? before;
  return object === null ? message : { ...message, objectType: typeName(object) };
}

function outputState(after: StoredObject | null) {
  if (after === null) return "DOES_NOT_EXIST";
  return after.data.kind === "package" ? "PACKAGE_WRITE" : "OBJECT_WRITE";
}

function effectsInBcs(outcome: Outcome, epoch: number, eventsDigest: string | null): Uint8Array {
  const { changes, gasObjectId, lamportVersion, digest, gasUsed, failure, readOnly } = outcome;
  const at = changes.findIndex((change) => change.id === gasObjectId);
  const effects = bcs.TransactionEffects.serialize(
    {
      V2: {
        status: statusInBcs(failure),
        executedEpoch: BigInt(epoch),
        gasUsed,
        transactionDigest: digest,
        gasObjectIndex: at < 0 ? null : at,
        eventsDigest,
        dependencies: dependenciesOf(outcome),
        lamportVersion,
        changedObjects: changes.map((change) => [change.id, changeInBcs(change)] as const),
        unchangedConsensusObjects: readOnly.map(
          (object) => [object.id, { ReadOnlyRoot: [object.version, object.digest] }] as const,
        ),
        auxDataDigest: null,
      },
    },
    { maxSize: 1024 * 1024 },
  );
  return effects.toBytes();
}

function changeInBcs({ before, after }: Change) {
  return {
    inputState:
      before === null
        ? { NotExist: true as const }
        : { Exist: [[before.version, before.digest] as const, ownerToBcs(before.owner)] as const },
    outputState: outputInBcs(after),
    idOperation:
      before === null
        ? { Created: true as const }
        : after === null
          ? { Deleted: true as const }
          : { None: true as const },
  };
}

function outputInBcs(after: StoredObject | null) {
  if (after === null) return { NotExist: true as const };
  if (after.data.kind === "package") return { PackageWrite: [after.version, after.digest] as const };
  return { ObjectWrite: [after.digest, ownerToBcs(after.owner)] as const };
}

function eventsMessage({ events, form, digest }: Outcome, view: LedgerView): GrpcTypes.TransactionEvents {
  if (events.length === 0) return { events: [] };
  const value = EVENTS.serialize(
    events.map(({ type, contents }) => ({
      packageId: type.address,
      transactionModule: type.module,
      sender: form.sender,
      type: structTagOf(type),
      contents,
    })),
    { maxSize: 1024 * 1024 },
  ).toBytes();
  const messages = events.map(({ type, contents }, eventIndex): GrpcTypes.Event => {
    const json = jsonOf(contents, type, view.layouts);
    const event = {
      packageId: type.address,
      module: type.module,
      sender: form.sender,
      eventType: renderType(type),
      contents: { name: renderType(type), value: contents },
      transactionDigest: digest,
      eventIndex,
    };
    return json === undefined ? event : { ...event, json };
  });
  const digestOf = toBase58(hashOf("TransactionEvents", value));
  return { bcs: { name: "TransactionEvents", value }, digest: digestOf, events: messages };
}

function balanceChanges(changes: readonly Change[]): GrpcTypes.BalanceChange[] {
  const sums = new Map<string, bigint>();
  const add = (object: StoredObject | null, sign: bigint) => {
    if (object?.data.kind !== "move" || !isCoin(object.data.type) || object.owner.kind !== "address") return;
    const [coinType] = object.data.type.typeArguments;
    if (coinType === undefined) return;
    const key = `${object.owner.address} ${renderType(coinType)}`;
    sums.set(key, (sums.get(key) ?? 0n) + sign * balanceOf(object));
  };
  for (const { before, after } of changes) {
    add(before, -1n);
    add(after, 1n);
  }
  return [...sums]
    .filter(([, amount]) => amount !== 0n)
    .map(([key, amount]) => {
      const [address = "", coinType = ""] = key.split(" ");
      return { address, coinType, amount: String(amount) };
    });
}
