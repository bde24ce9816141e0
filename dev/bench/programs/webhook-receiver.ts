/** A process that receives webhooks: 204 at once, nothing at all under `/dead`. Its parent asks what arrived. */
import { createServer } from "node:http";

export interface Arrivals {
  readonly count: number;
  /** Of the first and the last, in milliseconds since the Unix epoch. */
  readonly first: number;
  readonly last: number;
  /** Of each event that was read: its object's id, and when it arrived. */
  readonly events: readonly (readonly [objectId: string, at: number])[];
}

let count = 0;
let first = 0;
let last = 0;
let events: [string, number][] = [];
/** Reading bodies costs the receiver; only latencies need it. */
let isReading = false;
/** How many the parent waits for. */
let awaited = Infinity;

const server = createServer((request, response) => {
  if (request.url?.startsWith("/dead") === true) return void request.resume();
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => {
    if (isReading) chunks.push(chunk);
  });
  request.on("end", () => {
    response.writeHead(204).end();
    if (request.url === "/bare") return;
    last = performance.timeOrigin + performance.now();
    if (count === 0) first = last;
    count += 1;
    if (isReading) events.push([objectIdOf(Buffer.concat(chunks).toString()), last]);
    if (count >= awaited) answer();
  });
});
server.requestTimeout = 0;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(address === null || typeof address === "string" ? 0 : address.port);
});

process.on("message", (question: "forget" | "read" | number) => {
  if (typeof question === "number") {
    awaited = question;
    if (count >= awaited) answer();
    return;
  }
  isReading = question === "read";
  [count, first, last, events] = [0, 0, 0, []];
  answer();
});

function answer(): void {
  awaited = Infinity;
  process.send?.({ count, first, last, events } satisfies Arrivals);
}

function objectIdOf(body: string): string {
  return (JSON.parse(body) as { data: { object: { id: string } } }).data.object.id;
}
