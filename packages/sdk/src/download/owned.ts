/** Whose the bytes of answers are. */
import type { Connection } from "../options.ts";

/** Frees a piece of an answer that was used. Null when a transport of the caller or middleware may see the bytes, too. */
export function freeingOf({
  middleware,
  transport,
}: Pick<Connection, "middleware" | "transport">): ((piece: Uint8Array) => void) | null {
  if (!middleware.every(({ leavesBodies }) => leavesBodies === true)) return null;
  return transport.free ?? (transport.direct === true ? freePiece : null);
}

/** Frees the memory of a piece, if it is the piece's alone. V8 finds memory outside of the heap late. */
export function freePiece({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer?.(0);
}
