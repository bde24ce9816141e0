import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import type { FastifyInstance } from "fastify";

/** Statuses whose Response must not have a body (Fetch §2.2.4 "null body status"). */
const NO_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/**
 * The app as a function from Request to Response, without a network: bodies stream both ways, and the request's signal
 * ends it. For transports in tests and for programs that hold server and client at once.
 */
export function fetchHandler(app: FastifyInstance): (request: Request) => Promise<Response> {
  return async (request) => {
    await app.ready();
    const url = new URL(request.url);
    const answer = await app.inject({
      method: request.method as "GET",
      url: url.pathname + url.search,
      headers: { host: url.host, ...framingOf(request), ...Object.fromEntries(request.headers) },
      ...(request.body === null ? {} : { payload: Readable.fromWeb(request.body as NodeReadableStream<Uint8Array>) }),
      payloadAsStream: true,
      signal: request.signal,
    });
    const hasBody = request.method !== "HEAD" && !NO_BODY.has(answer.statusCode);
    const stream = answer.stream();
    if (!hasBody) stream.resume();
    return new Response(hasBody ? readableOf(stream) : null, {
      status: answer.statusCode,
      headers: toHeaders(answer.headers),
    });
  };
}

/** Not `Readable.toWeb`, which throws out of band when data comes after a cancel. */
function readableOf(source: Readable): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks: AsyncIterator<Uint8Array<ArrayBuffer>> = source[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const next = await chunks.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** A Request does not show its body's length; without framing the server would see no body (RFC 9112 §6.3). */
function framingOf(request: Request): Record<string, string> {
  return request.body === null || request.headers.has("content-length") ? {} : { "transfer-encoding": "chunked" };
}

function toHeaders(headers: Readonly<Record<string, number | string | string[] | undefined>>): Headers {
  const result = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) result.append(name, String(one));
  }
  return result;
}
