/** Middleware that makes of an honest service one that lies: tests see what a client then believes, and what not. */
import { createHash } from "node:crypto";
import type { File, Folder } from "@coffer/contract";
import { type File as NamedFile, type Folder as NamedFolder, type Middleware, toRequest } from "@coffer/sdk";
import type { SharedStack } from "./shared-stack.ts";

/** A file of a shared vault as the service answers it, and as a lie may have it. */
export interface Shown {
  id: string;
  versionId: string;
  vaultId: string;
  shared: { version: string; entry: string; metadata: string; nameIndex: string };
  [field: string]: unknown;
}

/** An item of a client with what only the wire needs, which the SDK's types leave out. */
export function onWire(item: NamedFile): File;
export function onWire(item: NamedFolder): Folder;
export function onWire(item: NamedFile | NamedFolder): File | Folder {
  return item as File | Folder;
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

/** What the service has of a file now. */
export async function keepVersion(stack: Pick<SharedStack, "baseUrl" | "owner">, fileId: string): Promise<KeptVersion> {
  const headers = { authorization: `Bearer ${stack.owner.apiKey}` };
  const content = await fetch(`${stack.baseUrl}/api/files/${fileId}/content`, { headers });
  return { file: await shown<File>(stack, fileId), bytes: new Uint8Array(await content.arrayBuffer()) };
}

/** Lies in the first answer of an endpoint, and in no other. */
export function lyingOnce(endpoint: string, change: (said: never) => unknown): Middleware {
  const lie = lyingAt(endpoint, change);
  let left = 1;
  return (request, next, context) =>
    context.endpointId === endpoint && left-- > 0 ? lie(request, next, context) : next(request);
}

/** Lies once it is told to: until then the service is what it is. */
export function lyingLater(...lies: Middleware[]): { isLying: boolean; readonly middleware: Middleware[] } {
  const state = {
    isLying: false,
    middleware: lies.map(
      (lie): Middleware =>
        (request, next, context) =>
          state.isLying ? lie(request, next, context) : next(request),
    ),
  };
  return state;
}

/** Notes all that leaves: method, address, headers and body. */
export function watching(sent: string[]): Middleware {
  return async (outgoing, next) => {
    const request = toRequest(outgoing);
    const url = decodeURIComponent(request.url.replaceAll("+", " "));
    const body = Buffer.from(await request.clone().arrayBuffer()).toString("latin1");
    sent.push(`${request.method} ${url} ${JSON.stringify([...request.headers])} ${body}`);
    return next(request);
  };
}

/** Gives other stored bytes out, with the service's own word for them. */
export function spoilingContent(change: (body: Uint8Array) => Uint8Array, fileId = ""): Middleware {
  return async (request, next, { endpointId }) => {
    const answer = await next(request);
    if (endpointId !== "files.content" || !request.url.includes(fileId)) return answer;
    const body = Uint8Array.from(change(new Uint8Array(await answer.arrayBuffer())));
    const headers = new Headers(answer.headers);
    headers.set("content-length", String(body.length));
    headers.set("repr-digest", `sha-256=:${createHash("sha256").update(body).digest("base64")}:`);
    return new Response(body, { status: answer.status, headers });
  };
}

/** A file or folder as the service describes it, with its statements. */
export async function shown<Item = Shown>(
  { baseUrl, owner }: Pick<SharedStack, "baseUrl" | "owner">,
  id: string,
  kind: "files" | "folders" = "files",
): Promise<Item> {
  const headers = { authorization: `Bearer ${owner.apiKey}` };
  const answer = (await (await fetch(`${baseUrl}/api/${kind}/${id}`, { headers })).json()) as Record<string, Item>;
  return Object.values(answer)[0] as Item;
}
