/** The bytes of an upload: raw or one part of a form, within the account's limits, held to the digests sent along. */
import { ServiceError } from "../../../service-error.ts";
import type { IncomingBytes } from "../../../handler.ts";
import type { WantedHold } from "../../holds/holds.ts";
import { isMultipart, openMultipart } from "./form.ts";
import { beyondSha256, type ExpectedDigest, verifying } from "../digests.ts";

/** Bytes. */
export interface Room {
  /** The largest file the plan takes in one request. */
  readonly fileBytes: number;
  /** What is left of the account's storage. */
  readonly storageBytes: number;
}

/** The account of the storage, and how much of it the upload gives back. */
export type OwnedRoom = Room & Pick<WantedHold, "accountId" | "freed">;

export interface Incoming {
  /** The file name of a form's part, null for a raw body. */
  readonly name: string | null;
  /** null: the sender did not say. */
  readonly contentType: string | null;
  readonly stream: AsyncIterable<Uint8Array>;
  readonly wanted: WantedHold;
  /** The digests still to compare with the SHA-256 of the stored bytes. */
  readonly digests: readonly ExpectedDigest[];
}

/**
 * A form's digests are those of the request's content, framing included (RFC 9530 §2): they are checked as it arrives.
 * The bytes of a form are counted against the room as they come, those of a raw body with a length in advance.
 */
export async function openIncoming(
  body: IncomingBytes,
  digests: readonly ExpectedDigest[],
  room: OwnedRoom,
): Promise<Incoming> {
  const { accountId, freed } = room;
  if (isMultipart(body.contentType)) {
    const part = await openMultipart(body.contentType, copied(verifying(body.stream, digests)));
    const wanted = { accountId, freed, length: null };
    return { ...part, stream: within(part.stream, room), wanted, digests: [] };
  }
  if (body.length !== null) requireRoom(body.length, room);
  const stream = verifying(body.length === null ? within(body.stream, room) : body.stream, beyondSha256(digests));
  const wanted = { accountId, freed, length: body.length };
  return { name: null, contentType: body.contentType, stream, wanted, digests };
}

/** Throws `file_too_large` or `storage_quota` for a file of that many bytes. */
export function requireRoom(bytes: number, room: Room): void {
  if (bytes > room.fileBytes)
    throw new ServiceError("file_too_large", `A file may hold at most ${room.fileBytes} bytes here`);
  if (bytes > room.storageBytes) throw new ServiceError("storage_quota");
}

/** Counts what has no declared length and gives up as soon as it is too much. */
async function* within(source: AsyncIterable<Uint8Array>, room: Room): AsyncGenerator<Uint8Array> {
  let arrived = 0;
  for await (const chunk of source) {
    arrived += chunk.byteLength;
    requireRoom(arrived, room);
    yield chunk;
  }
}

/** The parser of forms holds parts of several chunks; a body's chunk ends with the next one. */
async function* copied(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) yield Buffer.from(chunk);
}
