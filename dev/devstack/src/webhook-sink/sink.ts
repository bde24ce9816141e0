/**
 * A receiver of webhooks on this machine, for development: verifies each delivery, keeps the last 500 and shows them on a
 * page. Reachable over loopback only; what arrives is data and never runs.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type Answer, Answering, ANSWERS, isAnswer } from "./answers.ts";
import { Deliveries, judge, type SunkDelivery } from "./deliveries.ts";
import { LiveViews } from "./live-views.ts";
import { loadPage } from "./page.ts";

export interface WebhookSink extends AsyncDisposable {
  /** Where deliveries go. */
  readonly hookUrl: string;
  /** Address of the page, for people. */
  readonly pageUrl: string;
  readonly deliveries: Deliveries;
  /** Deliveries signed with this secret count as verified from now on, beside those of earlier ones. */
  trust(secret: string): void;
  /** The answer to deliveries from now on; 204 at first. */
  answerWith(answer: Answer): void;
  close(): Promise<void>;
}

interface Parts {
  readonly deliveries: Deliveries;
  readonly answering: Answering;
  readonly views: LiveViews;
  readonly secrets: string[];
  readonly page: ReturnType<typeof loadPage>;
  readonly server: Server;
}

const HOST = "127.0.0.1";
const HOOK_PATH = "/hook";
/** Larger bodies are refused unread. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Starts one on a free port. */
export async function startWebhookSink(): Promise<WebhookSink> {
  const server = createServer();
  const deliveries = new Deliveries();
  const parts: Parts = {
    server,
    deliveries,
    answering: new Answering(),
    secrets: [],
    page: loadPage(),
    views: new LiveViews(deliveries),
  };
  server.on("request", (request, response) => {
    serve(parts, request, response).catch(() => response.destroy());
  });
  server.listen(0, HOST);
  await once(server, "listening");
  const origin = originOf(server);
  const close = async (): Promise<void> => {
    parts.answering[Symbol.dispose]();
    parts.views[Symbol.dispose]();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return {
    hookUrl: origin + HOOK_PATH,
    pageUrl: `${origin}/`,
    deliveries,
    close,
    trust: (secret) => void parts.secrets.push(secret),
    answerWith: (answer) => {
      parts.answering.current = answer;
    },
    [Symbol.asyncDispose]: close,
  };
}

function originOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the sink does not listen");
  return `http://${HOST}:${String(address.port)}`;
}

async function serve(parts: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
  const path = (request.url ?? "").split("?")[0] ?? "";
  if (path === HOOK_PATH || path.startsWith(`${HOOK_PATH}/`)) return receive(parts, request, response);
  // A name that somebody else's DNS points here would give their page these answers (DNS rebinding).
  if (`http://${request.headers.host ?? ""}` !== originOf(parts.server)) return refuse(response, 421, "Ask by address");
  const route = `${request.method ?? ""} ${path}`;
  if (route === "GET /") return void response.writeHead(200, parts.page.headers).end(parts.page.html);
  if (route === "GET /deliveries.json") return sendJson(response, listing(parts));
  if (route === "GET /live") return parts.views.open(request, response);
  if (route === "PUT /answer") return changeAnswer(parts, request, response);
  refuse(response, 404, "Nothing here");
}

const SECURITY_HEADERS = {
  "Cache-Control": "no-store",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

interface Listing {
  readonly answers: readonly Answer[];
  readonly answer: Answer;
  /** Oldest first. */
  readonly deliveries: readonly SunkDelivery[];
}

function listing({ answering, deliveries }: Parts): Listing {
  return { answers: ANSWERS, answer: answering.current, deliveries: deliveries.all };
}

/** One that cannot be verified is refused, as a careful receiver does. */
async function receive(parts: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "", url: path = "", headers } = request;
  if (method !== "POST") return refuse(response, 405, "Deliveries are POST");
  const arrival = { method, path, headers, body: await readBody(request) };
  const verdict = await judge(arrival, parts.secrets);
  const refusal = arrival.body === null ? 413 : verdict.problem === null ? null : 400;
  parts.deliveries.add(arrival, verdict, refusal === null ? parts.answering.current : String(refusal));
  if (refusal === null) parts.answering.give(response);
  else refuse(response, refusal, verdict.problem ?? "");
}

/** A page of another origin cannot send PUT without asking first, and is not answered what it asks (Fetch §3.3). */
async function changeAnswer(parts: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = (await readBody(request))?.toString();
  if (!isAnswer(answer)) return refuse(response, 400, `One of: ${ANSWERS.join(", ")}`);
  parts.answering.current = answer;
  response.writeHead(204).end();
}

/** null: larger than {@link MAX_BODY_BYTES}. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return length > MAX_BODY_BYTES ? null : Buffer.concat(chunks);
}

function sendJson(response: ServerResponse, body: Listing): void {
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

function refuse(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8" }).end(`${sentence}\n`);
}
