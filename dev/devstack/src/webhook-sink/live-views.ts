/** Open pages: each gets the kept deliveries and the new ones, as server-sent events. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Deliveries, SunkDelivery } from "./deliveries.ts";

/** At once. */
const MAX_VIEWS = 50;
/** A page that does not take what it is sent is cut and comes back. Bytes. */
const MAX_WAITING = 32 * 1024 * 1024;
/** Milliseconds. */
const RETRY = 1_000;

export class LiveViews implements Disposable {
  readonly #deliveries: Deliveries;
  readonly #open = new Set<ServerResponse>();
  readonly #unsubscribe: () => void;

  constructor(deliveries: Deliveries) {
    this.#deliveries = deliveries;
    this.#unsubscribe = deliveries.listen((delivery) => {
      for (const view of this.#open) send(view, delivery);
    });
  }

  /** Begins after the number that the page saw last. */
  open(request: IncomingMessage, response: ServerResponse): void {
    if (this.#open.size >= MAX_VIEWS) return void response.writeHead(503, { "Retry-After": "5" }).end();
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(`retry: ${String(RETRY)}\n\n`);
    const seen = Number(request.headers["last-event-id"] ?? 0);
    for (const delivery of this.#deliveries.all) if (!(delivery.number <= seen)) send(response, delivery);
    this.#open.add(response);
    response.on("close", () => this.#open.delete(response));
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
    for (const view of this.#open) view.end();
  }
}

function send(view: ServerResponse, delivery: SunkDelivery): void {
  view.write(`id: ${String(delivery.number)}\ndata: ${JSON.stringify(delivery)}\n\n`);
  if (view.writableLength > MAX_WAITING) view.destroy();
}
