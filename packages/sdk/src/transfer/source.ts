import { acceptBytes, isBlob } from "../http/accepted-bytes.ts";
import { openChunks } from "../http/byte-body.ts";
import type { ByteBody } from "../http/accepted-bytes.ts";
import { ContractError, SdkError } from "../http/errors.ts";
import { describeRefused } from "./body-refusal.ts";

/** Where an upload's bytes come from. */
export interface Source {
  /** Bytes in all; null when only the end shows it. */
  readonly size: number | null;
  /** Fills `target` from `offset`; less than its length only at the end. A one-way source takes no earlier offset than the last one's end. */
  read(offset: number, target: Uint8Array): Promise<number>;
  /** Ends the use of the source, also in the middle. */
  close(): Promise<void>;
  /** Any offset can be read at any time, and the bytes are the same each time. */
  readonly rereadable?: boolean;
  /** A read ends by itself, so one may be under way when the upload fails. A stream may hang. */
  readonly readsAhead?: boolean;
}

/**
 * Opens the caller's body. `size` counts only if the body has no size of its own.
 * @throws ContractError for anything that is not bytes.
 */
export function openSource(body: ByteBody, size?: number, endpointId = "files.upload"): Source {
  const bytes = acceptBytes(body);
  if (bytes === null) throw new ContractError("request", endpointId, [describeRefused(body)]);
  if (bytes instanceof Uint8Array) return wholeSource(bytes.length, (from, to) => bytes.subarray(from, to));
  if (isBlob(bytes))
    return wholeSource(bytes.size, async (from, to) => new Uint8Array(await bytes.slice(from, to).arrayBuffer()));
  if (size !== undefined && !(Number.isSafeInteger(size) && size >= 0))
    throw new ContractError("request", endpointId, ["size: expected a whole number of bytes"]);
  return oneWaySource(openChunks(bytes, endpointId), size ?? null);
}

export function sourceChanged(message: string): SdkError {
  return new SdkError(message, {
    code: "source_changed",
    retryable: false,
    nextStep: "Wait until nothing writes to the source, then upload it again.",
  });
}

export function otherSize(stated: number): SdkError {
  return sourceChanged(`The source does not have the stated ${String(stated)} bytes`);
}

function wholeSource(size: number, sliceOf: (from: number, to: number) => Promise<Uint8Array> | Uint8Array): Source {
  return {
    size,
    rereadable: true,
    readsAhead: true,
    read: async (offset, target) => {
      const slice = await sliceOf(offset, offset + target.length);
      target.set(slice);
      return slice.length;
    },
    close: () => Promise.resolve(),
  };
}

function oneWaySource(chunks: AsyncIterator<Uint8Array>, size: number | null): Source {
  let rest: Uint8Array = new Uint8Array(0);
  let position = 0;
  return {
    size,
    read: async (offset, target) => {
      if (offset !== position) throw notResumable();
      let filled = 0;
      while (filled < target.length) {
        if (rest.length === 0) {
          const next = await chunks.next();
          if (next.done === true) break;
          rest = next.value;
        }
        const slice = rest.subarray(0, target.length - filled);
        target.set(slice, filled);
        rest = rest.subarray(slice.length);
        filled += slice.length;
      }
      position += filled;
      return filled;
    },
    close: async () => {
      await chunks.return?.();
    },
  };
}

export function notResumable(): SdkError {
  return new SdkError("The server lost bytes that it had acknowledged, and the source cannot be read again", {
    code: "not_resumable",
    retryable: false,
    nextStep: "Start the upload again from the beginning.",
  });
}
