/** One method of a service: its messages, and what answers them. */
import type { Ledger, LedgerView } from "../chain/ledger.ts";

/** What methods work on. */
export interface Node {
  /** For reading and simulating: the chain as this node sees it, possibly late. */
  readonly view: LedgerView;
  /** For executing: transactions reach the chain also through a node that lags. */
  readonly ledger: Ledger;
  /** Gives SUI to an address that has none to pay with; nothing when that is turned off. */
  fund(address: string): Promise<void>;
}

interface MessageType<Message> {
  fromBinary(bytes: Uint8Array): Message;
  toBinary(message: Message): Uint8Array;
  create(value?: unknown): Message;
}

export interface Method {
  call(node: Node, request: Uint8Array): Promise<Uint8Array>;
}

export type Methods = Readonly<Record<string, Method>>;

export function method<Input, Output>(
  input: MessageType<Input>,
  output: MessageType<Output>,
  answer: (node: Node, request: Input) => Partial<Output> | Promise<Partial<Output>>,
): Method {
  return {
    call: async (node, request) => output.toBinary(output.create(await answer(node, readInput(input, request)))),
  };
}

/** Bytes that are no such message. */
export class UnreadableRequestError extends Error {
  override readonly name = "UnreadableRequestError";
}

function readInput<Input>(type: MessageType<Input>, bytes: Uint8Array): Input {
  try {
    return type.fromBinary(bytes);
  } catch (cause) {
    throw new UnreadableRequestError("the request is not the method's message", { cause });
  }
}
