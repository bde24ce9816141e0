/** Batches of small files in the fake: one multipart/form-data body, a part for each file. */
import {
  batchPart,
  MAX_BATCH_BYTES,
  MAX_BATCH_FILES,
  PART_HEADER,
  describeIssues,
  type api,
  type BatchPart,
} from "@coffer/contract";
import * as z from "zod/mini";
import { Failure, type GroupHandlers } from "../handlers.ts";
import { checkDigests, createFile } from "./content.ts";
import { findPlace, readVault, type Caller, type State } from "./state.ts";

interface Part {
  readonly header: string;
  readonly bytes: Uint8Array;
}

export function batchHandler(state: State): GroupHandlers<typeof api.files, Caller>["batch"] {
  return async ({ query: { vaultId }, headers, body }, caller) => {
    if (vaultId !== undefined) readVault(state, caller, vaultId);
    const parts = splitForm(body, headers["content-type"]);
    if (parts.length === 0 || parts.length > MAX_BATCH_FILES)
      throw new Failure("validation_failed", `body: a batch has 1 to ${String(MAX_BATCH_FILES)} parts`);
    if (parts.reduce((sum, { bytes }) => sum + bytes.length, 0) > MAX_BATCH_BYTES) throw new Failure("body_too_large");
    let vault: string | null = null;
    const results = [];
    for (const [at, { header, bytes }] of parts.entries()) {
      try {
        const { name, folderId, contentType, ifNoneMatch, ...said } = parsePart(header, at);
        const place = findPlace(state, caller, vaultId, folderId);
        vault ??= place.vaultId;
        if (place.vaultId !== vault) throw new Failure("different_vault");
        if (name === undefined) throw new Failure("validation_failed", "name: required");
        await checkDigests(bytes, [said.contentDigest, said.reprDigest]);
        const wanted = { vaultId, folderId, name, ifAbsent: ifNoneMatch !== undefined };
        results.push({ file: await createFile(state, caller, wanted, { bytes, contentType }), error: null });
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        results.push({ file: null, error: { code: error.code, message: error.message } });
      }
    }
    return { results };
  };
}

function parsePart(header: string, at: number): BatchPart {
  const parsed = z.safeParse(batchPart, parseJson(header));
  if (parsed.success) return parsed.data;
  const issue = describeIssues(parsed.error.issues, "header")[0] ?? "header";
  throw new Failure("validation_failed", `parts[${String(at)}].${issue}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Each byte is a character on the way, so that text functions find the boundary. */
function splitForm(body: Uint8Array, contentType: string): Part[] {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1] ?? "";
  const text = new TextDecoder("latin1").decode(body);
  const [, ...pieces] = `\r\n${text}`.split(`\r\n--${boundary}`);
  if (boundary === "" || pieces.pop()?.startsWith("--") !== true)
    throw new Failure("validation_failed", "body: not multipart/form-data");
  // Where the piece before ended. The line break before the first boundary is not in the body.
  let end = -2;
  return pieces.map((piece) => {
    const start = end + "\r\n--".length + boundary.length;
    end = start + piece.length;
    const head = piece.slice(0, piece.indexOf("\r\n\r\n"));
    const line = head.split("\r\n").find((each) => each.toLowerCase().startsWith(`${PART_HEADER}:`)) ?? "";
    const header = line.slice(PART_HEADER.length + 1).trim();
    return { header, bytes: body.slice(start + head.length + "\r\n\r\n".length, end) };
  });
}
