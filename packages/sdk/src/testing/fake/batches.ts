/** Batches in the fake: public vaults alone, as everywhere in it. */
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
import { findPlace, type Caller, type State } from "./state.ts";

type Batch = GroupHandlers<typeof api.files, Caller>["batch"];

interface Part {
  readonly header: string | undefined;
  readonly bytes: Uint8Array;
}

export function batchHandler(state: State): Batch {
  return async ({ query: { vaultId }, headers, body }, caller) => {
    if (vaultId !== undefined) findPlace(state, caller, vaultId, undefined);
    const parts = splitForm(body, headers["content-type"]);
    if (parts.length === 0 || parts.length > MAX_BATCH_FILES)
      throw new Failure("validation_failed", `body: a batch has 1 to ${String(MAX_BATCH_FILES)} parts`);
    if (parts.reduce((sum, { bytes }) => sum + bytes.length, 0) > MAX_BATCH_BYTES) throw new Failure("body_too_large");
    let vault: string | null = null;
    const results = [];
    for (const [at, { header, bytes }] of parts.entries()) {
      try {
        const said = parsePart(header, at);
        const place = findPlace(state, caller, vaultId, said.folderId);
        vault ??= place.vaultId;
        if (place.vaultId !== vault) throw new Failure("different_vault");
        if (said.shared !== undefined || said.name === undefined)
          throw new Failure("validation_failed", "name: required");
        await checkDigests(bytes, [said.contentDigest, said.reprDigest]);
        const target = { vaultId, folderId: said.folderId, name: said.name };
        const content = { bytes, contentType: said.contentType };
        const ifAbsent = said.ifNoneMatch !== undefined;
        results.push({ file: await createFile(state, caller, { ...target, ifAbsent }, content), error: null });
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        results.push({ file: null, error: { code: error.code, message: error.message } });
      }
    }
    return { results };
  };
}

function parsePart(header: string | undefined, at: number): BatchPart {
  const parsed = z.safeParse(batchPart, parseJson(header ?? ""));
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
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  const text = new TextDecoder("latin1").decode(body);
  const [, ...pieces] = `\r\n${text}`.split(`\r\n--${boundary ?? ""}`);
  if (boundary === undefined || pieces.pop()?.startsWith("--") !== true)
    throw new Failure("validation_failed", "body: not multipart/form-data");
  let end = -2;
  return pieces.map((piece) => {
    const begin = end + 2 + 2 + boundary.length;
    end = begin + piece.length;
    const header = piece.slice(0, piece.indexOf("\r\n\r\n"));
    const line = header.split("\r\n").find((each) => each.toLowerCase().startsWith(`${PART_HEADER}:`));
    const value = line?.slice(PART_HEADER.length + 1).trim();
    return { header: value, bytes: body.slice(begin + header.length + 4, end) };
  });
}
