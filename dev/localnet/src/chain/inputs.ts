/** Which objects a transaction may use, and how: versions, digests and owners are checked before anything runs. */
import type { StoredObject } from "./objects.ts";
import { balanceOf, COIN_OF_SUI } from "./objects.ts";
import { renderType } from "../move/types.ts";
import { CLOCK_ID, clockObject } from "./genesis.ts";
import { MissingObjectError, RefusedError } from "./failures.ts";
import { MAX_GAS_BUDGET, minimumBudget, REFERENCE_GAS_PRICE } from "./gas.ts";
import type { Access } from "./slots.ts";
import type { CallArg, ObjectReference, Programmable, TransactionForm } from "./transaction-form.ts";

export interface InputObject {
  readonly stored: StoredObject;
  readonly access: Access;
}

type Objects = ReadonlyMap<string, StoredObject>;

/** What a node sees when a transaction runs. */
interface Moment {
  readonly objects: Objects;
  /** Milliseconds since 1970. */
  checkpointTime(): number;
}

const MAX_GAS_OBJECTS = 256;

/** The objects of the inputs, by the inputs' places; null for bytes. With `asOwner` null, anybody's objects are let through. */
export function loadInputs(view: Moment, form: Programmable, asOwner: string | null): (InputObject | null)[] {
  const loaded = form.inputs.map((input) => loadInput(view, input, asOwner));
  const ids = loaded.flatMap((input) => (input === null ? [] : [input.stored.id]));
  if (new Set(ids).size !== ids.length)
    throw new RefusedError("Mutable object cannot appear more than once in one transaction");
  return loaded;
}

function loadInput(view: Moment, input: CallArg, asOwner: string | null): InputObject | null {
  const { objects } = view;
  if (input.$kind === "Pure") return null;
  if (input.$kind !== "Object") throw new RefusedError(`the local chain has no ${input.$kind}`, "UNIMPLEMENTED");
  const { Object: argument } = input;
  if (argument.$kind === "Receiving") throw new RefusedError("the local chain receives no objects", "UNIMPLEMENTED");
  if (argument.$kind === "ImmOrOwnedObject") {
    const stored = loadReference(objects, argument.ImmOrOwnedObject);
    return { stored, access: accessOf(stored, asOwner) };
  }
  const { objectId, initialSharedVersion, mutable } = argument.SharedObject;
  const stored = findMoveObject(objects, objectId);
  if (stored.owner.kind !== "shared") throw new RefusedError(`Object ${objectId} is not a shared object`);
  if (stored.owner.initialVersion !== BigInt(initialSharedVersion)) {
    throw new RefusedError(`Object ${objectId} was not shared at version ${initialSharedVersion}`);
  }
  if (mutable && objectId === CLOCK_ID) throw new RefusedError("the clock cannot be taken mutably");
  // Every checkpoint of a real chain sets it, also one that holds no transaction: what is stored is as old as the last one here.
  const current = objectId === CLOCK_ID ? clockObject(view.checkpointTime(), stored.version) : stored;
  return { stored: current, access: mutable ? "shared-mutable" : "shared-read" };
}

/** @throws RefusedError when the version or the digest is not the object's current one. */
function loadReference(objects: Objects, { objectId, version, digest }: ObjectReference): StoredObject {
  const stored = findMoveObject(objects, objectId);
  if (stored.version !== BigInt(version)) {
    throw new RefusedError(
      `Transaction needs to be rebuilt because object ${objectId} version ${version} is unavailable for consumption, current version: ${stored.version}`,
    );
  }
  if (stored.digest !== digest)
    throw new RefusedError(`Invalid object digest for ${objectId}: expected ${stored.digest}`);
  return stored;
}

function findMoveObject(objects: Objects, id: string): StoredObject {
  const stored = objects.get(id);
  if (stored === undefined) throw new MissingObjectError(id);
  if (stored.data.kind === "package") throw new RefusedError(`Move package ${id} cannot be passed as an object`);
  return stored;
}

function accessOf(stored: StoredObject, asOwner: string | null): Access {
  const { owner, id } = stored;
  if (owner.kind === "immutable") return "immutable";
  if (owner.kind === "shared") throw new RefusedError(`Shared object ${id} is used as an owned one`);
  if (owner.kind === "object") throw new RefusedError(`Object ${id} is owned by another object`);
  if (asOwner !== null && owner.address !== asOwner) {
    throw new RefusedError(
      `Transaction was not signed by the correct sender: Object ${id} is owned by account address ${owner.address}, but given owner/signer address is ${asOwner}`,
    );
  }
  return "owned";
}

/** The coins that pay, with budget and price checked. Empty when the transaction names none. */
export function loadGas(objects: Objects, { gas, inputs }: TransactionForm): StoredObject[] {
  const { payment, owner, budget, price } = gas;
  if (price < REFERENCE_GAS_PRICE)
    throw new RefusedError(`Gas price ${price} under reference gas price (RGP) ${REFERENCE_GAS_PRICE}`);
  if (budget > MAX_GAS_BUDGET) throw new RefusedError(`Gas budget: ${budget} is higher than max: ${MAX_GAS_BUDGET}`);
  if (budget < minimumBudget(price))
    throw new RefusedError(`Gas budget: ${budget} is lower than min: ${minimumBudget(price)}`);
  if (payment.length > MAX_GAS_OBJECTS) throw new RefusedError(`at most ${MAX_GAS_OBJECTS} coins can pay for gas`);
  const inputIds = new Set(inputs.flatMap((input) => referencedId(input) ?? []));
  const coins = payment.map((reference) => {
    const coin = loadReference(objects, reference);
    const isSui = coin.data.kind === "move" && renderType(coin.data.type) === renderType(COIN_OF_SUI);
    if (!isSui) throw new RefusedError(`Gas object ${coin.id} is no coin of SUI`);
    if (accessOf(coin, owner) !== "owned") throw new RefusedError(`Gas object ${coin.id} is not an owned object`);
    if (inputIds.has(coin.id)) throw new RefusedError("Mutable object cannot appear more than once in one transaction");
    inputIds.add(coin.id);
    return coin;
  });
  const balance = coins.reduce((sum, coin) => sum + balanceOf(coin), 0n);
  if (coins.length > 0 && balance < budget) {
    throw new RefusedError(`Balance of gas object ${balance} is lower than the needed amount: ${budget}`);
  }
  return coins;
}

/** The object that an input names, or null. */
export function referencedId(input: CallArg): string | null {
  if (input.$kind !== "Object") return null;
  const { Object: argument } = input;
  if (argument.$kind === "SharedObject") return argument.SharedObject.objectId;
  return argument.$kind === "Receiving" ? argument.Receiving.objectId : argument.ImmOrOwnedObject.objectId;
}
