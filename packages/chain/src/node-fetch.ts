/** The most a chain node may use of this program: time and memory, whichever call of whichever client asks it. */

/** Milliseconds until the last byte of an answer. A caller that wants less passes it. */
const MOST_TIME = 30_000;
/** The largest vault object has 235 KB, in base64 a third more. */
const MOST_BYTES = 8 * 1024 * 1024;

/** The runtime's `fetch`, or the given one. It gives up, and rejects, beyond the limits of a node's answer. */
export function boundedFetch(
  inner: typeof fetch = (input, init) => fetch(input, init),
  { milliseconds = MOST_TIME, bytes = MOST_BYTES }: { readonly milliseconds?: number; readonly bytes?: number } = {},
): typeof fetch {
  return async (input, init) => {
    const late = AbortSignal.timeout(milliseconds);
    const signal = init?.signal ? AbortSignal.any([init.signal, late]) : late;
    const { body, status, statusText, headers } = await inner(input, { ...init, signal });
    return new Response(body?.pipeThrough(limit(bytes)) ?? null, { status, statusText, headers });
  };
}

function limit(most: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let seen = 0;
  return new TransformStream({
    transform: (piece, controller) => {
      seen += piece.length;
      if (seen > most) throw new TypeError("the chain node's answer is longer than one can be");
      controller.enqueue(piece);
    },
  });
}
