/** TEST ONLY: resumable uploads as a client of tus sends them. */
import type { IncomingBytes, Principal } from "../../../../handler.ts";
import { bodyOf, contextOf, type TestService } from "../../../service.test-kit.ts";
import { renderMetadata } from "./metadata.ts";

export const TUS = { "tus-resumable": "1.0.0" };
export const PART = { contentType: "application/offset+octet-stream" };

export interface Created {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface CreateOptions {
  readonly headers?: Partial<Parameters<TestService["handlers"]["uploads"]["create"]>[0]["headers"]>;
  readonly metadata?: Record<string, string>;
  readonly body?: IncomingBytes;
  readonly as?: Principal;
}

export async function create(service: TestService, length: number, options: CreateOptions = {}): Promise<Created> {
  const metadata = options.metadata ?? { filename: "a.bin" };
  const headers = { ...TUS, "upload-length": length, "upload-metadata": renderMetadata(metadata), ...options.headers };
  const body = options.body ?? bodyOf("", { length: null });
  const recorded = await service.handlers.uploads.create({ headers, body }, contextOf(options.as ?? service.owner));
  const answer = recorded.reply.headers;
  return { id: String(answer["Location"]).replace("/api/uploads/", ""), headers: answer };
}

interface PatchOptions {
  readonly checksum?: string;
  readonly length?: number | null;
  readonly recheck?: () => Promise<void>;
}

export async function patch(
  service: TestService,
  id: string,
  offset: number,
  bytes: string | Buffer,
  options: PatchOptions = {},
) {
  const headers = {
    ...TUS,
    "upload-offset": offset,
    ...(options.checksum === undefined ? {} : { "upload-checksum": options.checksum }),
  };
  const body = bodyOf(bytes, { ...PART, ...(options.length === undefined ? {} : { length: options.length }) });
  return headersOf(
    await service.handlers.uploads.append(
      { params: { uploadId: id }, headers, body },
      contextOf(service.owner, options),
    ),
  );
}

export async function head(service: TestService, id: string, as?: Principal) {
  return headersOf(
    await service.handlers.uploads.head({ params: { uploadId: id }, headers: TUS }, contextOf(as ?? service.owner)),
  );
}

export function headersOf(answer: unknown): Readonly<Record<string, string>> {
  return (answer as { headers: Record<string, string> }).headers;
}
