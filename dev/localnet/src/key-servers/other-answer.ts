/** Answers that no healthy key server gives. */
import type { OtherAnswer } from "./faults.ts";
import { KeyServerError } from "./key-server-error.ts";

/** @param own what the server would have answered. */
export function renderOther(other: OtherAnswer, own: Response): Response {
  const { headers } = own;
  switch (other) {
    case "no_version":
      headers.delete("X-KeyServer-Version");
      return own;
    case "old_version":
      headers.set("X-KeyServer-Version", "0.4.0");
      return own;
    case "not_json":
      return new Response("<html>It works!</html>", { headers });
    case "no_keys":
      return Response.json({ keys: [] }, { headers });
    case "redirect":
      headers.set("Location", "https://elsewhere.invalid/v1/fetch_key");
      return new Response(null, { status: 307, headers });
    case "hang":
      return new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(1)) }), { headers });
    default:
      return withHeaders(new KeyServerError(other, "as a test wants it").toResponse(), headers);
  }
}

function withHeaders(response: Response, headers: Headers): Response {
  for (const name of ["X-KeyServer-Version", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers"])
    response.headers.set(name, headers.get(name) ?? "");
  return response;
}
