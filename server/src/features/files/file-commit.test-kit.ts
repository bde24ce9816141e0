/** TEST ONLY: held uploads, and commits of them. */
import { createHash } from "node:crypto";
import {
  HEADERS,
  plainTag,
  SIGNED_TAG_TITLE,
  signedTag,
  TUS_PART_TYPE,
  TUS_VERSION,
  type File,
} from "@coffer/contract";
import type { Principal } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { bodyOf, contextOf, type TestService } from "../service.test-kit.ts";
import { renderMetadata } from "./upload/resumable/metadata.ts";

const SPOKEN = { "tus-resumable": TUS_VERSION };

export type Body = Parameters<TestService["handlers"]["files"]["commit"]>[0]["body"];
export type Change = Body["changes"][number];

/** Of a file in a public vault. */
export function tagOf({ revision, versionId }: File): string {
  return plainTag({ revision, versionId });
}

/** A held upload with all its bytes, which came with its creation. Its id. */
export async function hold(
  service: TestService,
  fileId: string,
  bytes: Buffer | string,
  more: { readonly as?: Principal; readonly metadata?: Readonly<Record<string, string>>; readonly sent?: number } = {},
): Promise<string> {
  const buffer = Buffer.from(bytes as string);
  const headers = {
    ...SPOKEN,
    "upload-length": buffer.length,
    "upload-metadata": renderMetadata({ fileId, held: "true", ...more.metadata }),
    "upload-checksum": `sha256 ${createHash("sha256")
      .update(buffer.subarray(0, more.sent ?? buffer.length))
      .digest("base64")}`,
  };
  const body = bodyOf(buffer.subarray(0, more.sent ?? buffer.length), { contentType: TUS_PART_TYPE });
  const { reply } = await service.handlers.uploads.create({ headers, body }, contextOf(more.as ?? service.owner));
  return (reply.headers["Location"] ?? "").replace("/api/uploads/", "");
}

export async function headOf(service: TestService, uploadId: string, as = service.owner) {
  const input = { params: { uploadId }, headers: SPOKEN };
  return ((await service.handlers.uploads.head(input, contextOf(as))) as { headers: Record<string, string> }).headers;
}

export async function terminate(service: TestService, uploadId: string, as = service.owner): Promise<void> {
  await service.handlers.uploads.terminate({ params: { uploadId }, headers: SPOKEN }, contextOf(as));
}

export async function commit(
  service: TestService,
  body: Body,
  as: Principal = service.owner,
): Promise<readonly File[]> {
  return (await service.handlers.files.commit({ body }, contextOf(as))).reply.body.files;
}

/** What a commit is refused with, and which file that is about. */
export async function refusalOf(
  promise: Promise<unknown>,
): Promise<{ readonly code: string; readonly id: string | null; readonly tag: string | null }> {
  try {
    await promise;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { code: error.code, id: error.headers[HEADERS.itemId] ?? null, tag: error.headers["ETag"] ?? null };
  }
  return { code: "ok", id: null, tag: null };
}

/** Of a file in a shared vault, as a client computes it. */
export function signedTagOf({ shared }: File): string {
  const digests = [shared?.version ?? "", shared?.entry ?? ""].map((text) =>
    createHash("sha256").update(Buffer.from(text, "base64")).digest(),
  );
  const hashed = createHash("sha256").update(Buffer.concat([Buffer.from(`${SIGNED_TAG_TITLE}\0`), ...digests]));
  return signedTag(hashed.digest("base64url"));
}
