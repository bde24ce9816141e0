/** Responses of the HTTP shell that no protocol library makes: refusals before a call, and metadata. */

const NOT_MCP = -32_000;

/** An error of JSON-RPC in an HTTP response: hosts show its message. */
export function refusal(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(
    { jsonrpc: "2.0", error: { code: NOT_MCP, message }, id: null },
    { status, headers: { ...headers, "cache-control": "no-store" } },
  );
}

/** 401 with the address of the metadata (RFC 9728 §5.1). */
export function unauthorized(metadataUrl: string, message: string, isInvalid: boolean): Response {
  const error = isInvalid ? ', error="invalid_token"' : "";
  return refusal(401, message, { "www-authenticate": `Bearer resource_metadata="${metadataUrl}"${error}` });
}

/** Protected-resource metadata (RFC 9728 §2). Keys come from the Coffer service, so no authorization server is named. */
export function resourceMetadata(resource: string): Response {
  return Response.json(
    { resource, resource_name: "Coffer", bearer_methods_supported: ["header"] },
    { headers: { "cache-control": "max-age=3600" } },
  );
}

/** The key of `Authorization: Bearer …`; null: there is none. */
export function bearerIn(request: Request): string | null {
  return /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? null;
}

/** The response with every frame passed through `redact`. An event of a stream is redacted whole. */
export function redactedResponse(response: Response, redact: (text: string) => string): Response {
  if (response.body === null) return response;
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  let buffered = "";
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        buffered += decoder.decode(chunk, { stream: true });
        const end = isStream ? buffered.lastIndexOf("\n\n") + 2 : 0;
        if (end < 2) return;
        controller.enqueue(encoder.encode(redact(buffered.slice(0, end))));
        buffered = buffered.slice(end);
      },
      flush(controller) {
        buffered += decoder.decode();
        if (buffered !== "") controller.enqueue(encoder.encode(redact(buffered)));
      },
    }),
  );
  return new Response(body, { status: response.status, statusText: response.statusText, headers });
}
