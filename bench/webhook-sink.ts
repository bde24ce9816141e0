/** A process that receives webhooks: 204 at once, nothing at all under `/dead`. Says what arrived when it is asked. */
import { createServer } from "node:http";

export interface Arrivals {
  readonly count: number;
  /** Of the first and the last, in milliseconds since the Unix epoch. */
  readonly first: number;
  readonly last: number;
  /** Of each event: its object's id, and when it arrived. */
  readonly events: readonly (readonly [objectId: string, at: number])[];
}

const NOTHING = { count: 0, first: 0, last: 0 };
let total = { ...NOTHING };
let events: [string, number][] = [];
/** Reading bodies costs the receiver; only latencies need it. */
let isReading = false;

const server = createServer((request, response) => {
  if (request.url?.startsWith("/dead") === true) return void request.resume();
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => {
    if (isReading) chunks.push(chunk);
  });
  request.on("end", () => {
    const now = performance.timeOrigin + performance.now();
    total = { count: total.count + 1, first: total.first === 0 ? now : total.first, last: now };
    response.writeHead(204).end();
    if (isReading) events.push([objectIdOf(Buffer.concat(chunks).toString()), now]);
  });
});
server.requestTimeout = 0;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(address === null || typeof address === "string" ? 0 : address.port);
});

process.on("message", (wish: "count" | "take" | "read") => {
  const arrivals: Arrivals = { ...total, events: wish === "take" ? events : [] };
  process.send?.(arrivals);
  isReading ||= wish === "read";
  if (wish === "count") return;
  total = { ...NOTHING };
  events = [];
});

function objectIdOf(body: string): string {
  return (JSON.parse(body) as { data: { object: { id: string } } }).data.object.id;
}
