/** What a transaction writes while it runs. Nothing of it is on the chain before the transaction is committed. */
import { encodeValue } from "../move/bcs-values.ts";
import type { FrameworkEffects } from "../move/framework.ts";
import { type FindModule, type Layouts } from "../move/layouts.ts";
import type { Datatype, MoveType } from "../move/types.ts";
import { asAddress, asStruct, type MoveValue } from "../move/values.ts";
import type { ObjectOwner } from "../chain-access.ts";
import { ExecutionFailure } from "./failures.ts";
import { deriveId, type ObjectData } from "./objects.ts";

export interface WrittenObject {
  readonly id: string;
  readonly owner: ObjectOwner | "newly-shared";
  readonly data: ObjectData;
}

export interface EmittedEvent {
  readonly type: Datatype;
  readonly contents: Uint8Array;
}

export interface PublishedModule {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly datatypes: readonly string[];
}

export interface WorkspaceOptions {
  readonly transactionDigest: Uint8Array;
  readonly findModule: FindModule;
  readonly layouts: Layouts;
  readonly isCofferPackage: (modules: readonly string[]) => boolean;
}

/** As on Sui: 250 KB. */
const MAX_OBJECT_BYTES = 250 * 1024;
const MAX_EVENTS = 1024;

export class Workspace implements FrameworkEffects {
  readonly findModule: FindModule;
  readonly layouts: Layouts;
  readonly isCofferPackage: (modules: readonly string[]) => boolean;
  readonly written = new Map<string, WrittenObject>();
  /** Objects that are no more; those that were only made in this transaction among them. */
  readonly removed = new Set<string>();
  readonly events: EmittedEvent[] = [];
  /** Set when TransferObjects gives the gas coin away. */
  gasRecipient: string | null = null;
  readonly transactionDigest: Uint8Array;
  #made = 0;

  constructor({ transactionDigest, findModule, layouts, isCofferPackage }: WorkspaceOptions) {
    this.transactionDigest = transactionDigest;
    this.findModule = findModule;
    this.layouts = layouts;
    this.isCofferPackage = isCofferPackage;
  }

  freshId(): string {
    this.#made += 1;
    return deriveId(this.transactionDigest, this.#made - 1);
  }

  write(value: MoveValue, type: MoveType, owner: WrittenObject["owner"]): void {
    if (type.kind !== "datatype") throw new ExecutionFailure("VM_INVARIANT_VIOLATION", "Only structs are objects.");
    const id = idOf(value);
    const contents = encodeValue(value, type, this.layouts);
    if (contents.length > MAX_OBJECT_BYTES) {
      throw new ExecutionFailure(
        "OBJECT_TOO_BIG",
        `The object ${id} takes ${contents.length} of ${MAX_OBJECT_BYTES} bytes.`,
      );
    }
    const { store } = this.layouts.abilitiesOf(type);
    this.written.set(id, { id, owner, data: { kind: "move", type, hasPublicTransfer: store, contents } });
  }

  writePackage(id: string, modules: readonly PublishedModule[]): void {
    const datatypes = modules.flatMap((module) => module.datatypes.map((name) => `${module.name}::${name}`));
    const byName = new Map(modules.map((module) => [module.name, module.bytes]));
    this.written.set(id, { id, owner: { kind: "immutable" }, data: { kind: "package", modules: byName, datatypes } });
  }

  remove(value: MoveValue): void {
    this.removed.add(idOf(value));
  }

  giveGasCoin(recipient: string): void {
    this.gasRecipient = recipient;
  }

  shareObject(object: MoveValue, type: MoveType): void {
    this.write(object, type, "newly-shared");
  }

  emitEvent(event: MoveValue, type: MoveType): void {
    if (type.kind !== "datatype") throw new ExecutionFailure("VM_INVARIANT_VIOLATION", "Only structs are events.");
    if (this.events.length >= MAX_EVENTS) {
      throw new ExecutionFailure("VM_INVARIANT_VIOLATION", `A transaction emits at most ${MAX_EVENTS} events.`);
    }
    this.events.push({ type, contents: encodeValue(event, type, this.layouts) });
  }
}

/** An object's first field is its UID. */
export function idOf(value: MoveValue): string {
  const [uid] = asStruct(value).fields;
  const [id] = asStruct(uid ?? value).fields;
  const [address] = asStruct(id ?? value).fields;
  return asAddress(address ?? false);
}
