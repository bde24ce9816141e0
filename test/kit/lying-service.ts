/** Middleware that makes of an honest service one that lies: tests see what a client then believes, and what not. */
import { createHash } from "node:crypto";
import type { File, Middleware } from "@coffer/sdk";

/** A file of a shared vault as the service answers it, and as a lie may have it. */
export interface Shown {
  id: string;
  versionId: string;
  vaultId: string;
  shared: { version: string; entry: string; metadata: string; nameIndex: string };
  [field: string]: unknown;
}

/** Rewrites what the service says of files: in their own answers, in lists and beside the bytes. */
export function lyingOfFiles<Said = File>(change: (file: Said) => Said): Middleware {
  return async (request, next, { endpointId }) => {
    const answer = await next(request);
    if (!endpointId.startsWith("files.") || !answer.ok) return answer;
    const headers = new Headers(answer.headers);
    const beside = headers.get("coffer-file");
    if (beside !== null) {
      const file = change(JSON.parse(Buffer.from(beside, "base64").toString()) as Said);
      headers.set("coffer-file", Buffer.from(JSON.stringify(file)).toString("base64"));
    }
    if (endpointId === "files.content") return new Response(answer.body, { status: answer.status, headers });
    headers.delete("content-length");
    const said = (await answer.json()) as { file?: Said; files?: Said[] };
    const lie =
      said.file === undefined ? { ...said, files: said.files?.map(change) } : { ...said, file: change(said.file) };
    return new Response(JSON.stringify(lie), { status: answer.status, headers });
  };
}

/** Rewrites the JSON of one endpoint. */
export function lyingAt(endpoint: string, change: (said: never) => unknown): Middleware {
  return async (request, next, { endpointId }) => {
    const answer = await next(request);
    if (endpointId !== endpoint || !answer.ok) return answer;
    const headers = new Headers(answer.headers);
    headers.delete("content-length");
    return new Response(JSON.stringify(change((await answer.json()) as never)), { status: answer.status, headers });
  };
}

/** What a service keeps of one version: how it describes it, and its bytes. */
export interface KeptVersion {
  readonly file: File;
  readonly bytes: Uint8Array;
}

/** Answers that version for its file, whatever the service has by now. */
export function servingVersion({ file, bytes }: KeptVersion): Middleware {
  const digest = createHash("sha256").update(bytes).digest();
  const shown: File = { ...file, size: bytes.length, sha256: digest.toString("hex") };
  const lie = lyingOfFiles((said) => (said.id === file.id ? shown : said));
  return async (request, next, context) => {
    if (context.endpointId !== "files.content" || !new URL(request.url).pathname.includes(file.id))
      return lie(request, next, context);
    const headers = {
      "content-length": String(bytes.length),
      "content-type": "application/octet-stream",
      etag: `"sha256-${digest.toString("base64url")}"`,
      "repr-digest": `sha-256=:${digest.toString("base64")}:`,
      "coffer-file": Buffer.from(JSON.stringify(shown)).toString("base64"),
    };
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get("range") ?? "") ?? [];
    if (first === undefined || last === undefined)
      return new Response(Uint8Array.from(bytes), { status: 200, headers });
    const [from, end] = [Number(first), Math.min(Number(last) + 1, bytes.length)];
    const range = `bytes ${String(from)}-${String(end - 1)}/${String(bytes.length)}`;
    const ranged = { ...headers, "content-length": String(end - from), "content-range": range };
    return new Response(Uint8Array.from(bytes.subarray(from, end)), { status: 206, headers: ranged });
  };
}

/** What the service has of a file now, by a key that may read it. */
export async function keepVersion(baseUrl: string, apiKey: string, fileId: string): Promise<KeptVersion> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const ask = (path: string) => fetch(`${baseUrl}/api/files/${fileId}${path}`, { headers });
  const { file } = (await (await ask("")).json()) as { file: File };
  return { file, bytes: new Uint8Array(await (await ask("/content")).arrayBuffer()) };
}
