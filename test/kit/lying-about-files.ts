/** A service that says something else of files than it has stored. */
import type { Middleware } from "@coffer/sdk";

/** A file as the service answers it. */
export interface Shown {
  id: string;
  versionId: string;
  vaultId: string;
  shared: { version: string; entry: string; metadata: string; nameIndex: string };
  [field: string]: unknown;
}

/** Rewrites what the service says of files, in their own answer, in lists and beside the bytes. */
export function lying(change: (file: Shown) => Shown): Middleware {
  return async (request, next, { endpointId }) => {
    const answer = await next(request);
    if (!endpointId.startsWith("files.") || !answer.ok) return answer;
    const headers = new Headers(answer.headers);
    const beside = headers.get("coffer-file");
    if (beside !== null) {
      const file = change(JSON.parse(Buffer.from(beside, "base64").toString()) as Shown);
      headers.set("coffer-file", Buffer.from(JSON.stringify(file)).toString("base64"));
    }
    if (endpointId === "files.content") return new Response(answer.body, { status: answer.status, headers });
    headers.delete("content-length");
    const said = (await answer.json()) as { file?: Shown; files?: Shown[] };
    const lie =
      said.file === undefined ? { ...said, files: said.files?.map(change) } : { ...said, file: change(said.file) };
    return new Response(JSON.stringify(lie), { status: answer.status, headers });
  };
}
