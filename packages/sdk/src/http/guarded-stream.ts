import type { SdkError } from "./errors.ts";
import type { Watch } from "./time-limit.ts";

/**
 * The body of an answer under its attempt's watch. A read that waits longer than `stallMs` fails, and an abort fails
 * the next read. The watch ends with the stream, however that ends. A slow reader is not a stall.
 */
export function guardStream(
  source: ReadableStream<Uint8Array>,
  watch: Watch,
  stallMs: number,
  explain: (error: unknown) => SdkError,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const release = (): void => {
    watch.release();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          watch.watchStall(stallMs);
          const next = await watch.race(reader.read());
          watch.watchStall(null);
          if (!next.done) {
            controller.enqueue(next.value);
            return;
          }
          release();
          controller.close();
        } catch (error) {
          release();
          reader.cancel().catch(() => undefined); // The connection is of no use any more; its own error is already reported.
          throw watch.failure ?? explain(error);
        }
      },
      async cancel(reason) {
        release();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
