/** `fetch` that keeps an answer only up to a size: who sends without end must not fill the memory. */

/** Discovery documents and key sets are a few KiB, the largest object of the chain 250 KB, in base64. */
const MAX_BYTES = 1024 * 1024;

/** Rejects with TypeError, as `fetch` does for a broken connection, when the answer is larger than that. */
export async function boundedFetch(
  input: Parameters<typeof fetch>[0],
  init?: RequestInit,
  given: typeof fetch = fetch,
): Promise<Response> {
  const response = await given(input, init);
  if (response.body === null) return response;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size > MAX_BYTES) throw new TypeError("the answer is too large");
    parts.push(part);
  }
  return new Response(Buffer.concat(parts), { status: response.status, headers: response.headers });
}
