/** Downloads whose bytes are read at once when they are first asked for. */
import { ContractError } from "../../http/errors.ts";
import { collect, makeDownload, type Download, type DownloadFacts } from "../../transfer/stored-download.ts";

/**
 * A download that `open` reads: with `bytes`, or as a stream, which is made only for a caller who wants one. It gives
 * the bytes once. `cancel` releases what was never read.
 */
export function lazyDownload(
  facts: DownloadFacts,
  open: () => Promise<Uint8Array<ArrayBuffer>>,
  cancel: () => Promise<void>,
): Download {
  let stream: ReadableStream<Uint8Array> | null = null;
  let opened = false;
  const read = (): Promise<Uint8Array<ArrayBuffer>> => {
    if (opened) return Promise.reject(new ContractError("request", "files.content", ["the download was read already"]));
    opened = true;
    return open();
  };
  return makeDownload(facts, {
    get stream() {
      return (stream ??= streamOf(read, async () => {
        if (!opened) await cancel();
      }));
    },
    bytes: () => (stream === null ? read() : collect(stream, facts.range.length)),
  });
}

function streamOf(read: () => Promise<Uint8Array>, cancel: () => Promise<void>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const bytes = await read();
        if (bytes.length > 0) controller.enqueue(bytes);
        controller.close();
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
}
