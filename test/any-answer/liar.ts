/** A real server behind a proxy that lies: all that clients send and are answered goes through it, over sockets. */
import { request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { api, endpointsOf, HEADERS, type EndpointDefinition } from "@coffer/contract";
import { listenOnLoopback, type LoopbackServer } from "../kit/loopback.ts";
import type { Draw } from "./draw.ts";
import { drawPlan, isFields, lieAbout, noteAnswer, noteContent, openServed, type Plan } from "./lies.ts";

/** A request as it left the client. */
export interface Sent {
  readonly endpointId: string;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Liar extends LoopbackServer {
  /** How many answers were other than the truth. */
  readonly lies: number;
  /** How many requests of each endpoint were answered with a lie. */
  readonly lied: ReadonlyMap<string, number>;
  /** Since the last {@link Liar.begin}. */
  readonly sent: readonly Sent[];
  /** Since then: what was lied about, and how. */
  readonly told: readonly string[];
  /** From here on its answers are lies, by a plan of their own that is drawn; with null they are true. */
  begin(lying: Draw | null): void;
}

interface Answered {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** Acts that would end the world under test: the service says that it did them. */
const PRETENDED: ReadonlySet<string> = new Set(["vaults.delete", "trash.empty"]);
/** What a service may say to have things signed and sent again. */
const REFUSALS = [
  ["generation_moved", 409],
  ["names_outdated", 409],
  ["statement_invalid", 400],
  ["name_exists", 409],
  ["not_a_member", 403],
  ["precondition_failed", 412],
] as const;
const REFUSED = 0.04;

/** `target`: the honest server. */
export async function openLiar(target: () => string, outside: Draw): Promise<Liar> {
  const served = openServed();
  const lied = new Map<string, number>();
  /** Of uploads in parts. */
  const places: string[] = [];
  let sent: Sent[] = [];
  let told: string[] = [];
  let call: { readonly plan: Plan; readonly draw: Draw; readonly asked: Map<string, number> } | null = null;
  const count = (endpointId: string): void => void lied.set(endpointId, (lied.get(endpointId) ?? 0) + 1);
  /** By endpoint, so that calls which come at once have the same lies in whichever order. */
  const drawFor = (endpointId: string): Draw => {
    if (call === null) return outside;
    const nth = (call.asked.get(endpointId) ?? 0) + 1;
    call.asked.set(endpointId, nth);
    return call.draw.fork(`${endpointId} ${String(nth)}`);
  };
  const answer = (request: Sent, honest: Answered): Answered => {
    const [draw, plan] = [drawFor(request.endpointId), call?.plan ?? null];
    const said = readJson(honest);
    if (said !== null && honest.status < 300) noteAnswer(served, request.endpointId, said, draw);
    const isContent = request.endpointId === "files.content" && honest.status === 200;
    if (isContent) noteContent(served, honest, draw);
    if (plan === null) return honest;
    const lie = lieOf(plan, request, honest, said, draw);
    if (lie === honest) return honest;
    count(request.endpointId);
    told.push(`${request.endpointId} ${plan.kind}`);
    return lie;
  };
  const lieOf = (
    plan: Plan,
    request: Sent,
    honest: Answered,
    said: Readonly<Record<string, unknown>> | null,
    draw: Draw,
  ): Answered => {
    if (request.method !== "GET" && draw.chance(REFUSED)) return refusal(draw);
    if (request.endpointId === "files.content") return contentLie(plan, honest, draw);
    if (said === null && honest.status < 300) return headerLie(plan, honest, draw);
    if (said === null || honest.status >= 300) return honest;
    const lie = lieAbout(served, plan, request.endpointId, said, draw);
    return lie === said ? honest : { ...honest, body: Buffer.from(JSON.stringify(lie)) };
  };
  const contentLie = (current: Plan, honest: Answered, draw: Draw): Answered => {
    if (!draw.chance(current.rate)) return honest;
    const other = served.contents.length > 0 && draw.chance(0.5) ? draw.pick(served.contents) : honest;
    const given = { ...honest, ...(honest.status === 200 ? other : {}) };
    const beside = draw.chance(0.5)
      ? given.headers[HEADERS.file.toLowerCase()]
      : honest.headers[HEADERS.file.toLowerCase()];
    if (beside === undefined) return given;
    const file = JSON.parse(Buffer.from(beside, "base64").toString()) as Record<string, unknown>;
    const lie = lieAbout(served, current, "files.get", { file }, draw)["file"];
    const header = Buffer.from(JSON.stringify(lie)).toString("base64");
    return { ...given, headers: { ...given.headers, [HEADERS.file.toLowerCase()]: header } };
  };
  /** Of an upload in parts: which file it has become, and where it goes on. */
  const headerLie = (current: Plan, honest: Answered, draw: Draw): Answered => {
    const [name] = [HEADERS.fileId.toLowerCase(), "location"].filter((one) => honest.headers[one] !== undefined);
    if (name === undefined || !draw.chance(current.rate)) return honest;
    const others = name === "location" ? places : (served.objects.get("file") ?? []).map(({ id }) => String(id));
    if (name === "location") places.push(honest.headers[name] ?? "");
    return others.length === 0 ? honest : { ...honest, headers: { ...honest.headers, [name]: draw.pick(others) } };
  };
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await receive(incoming);
    sent.push(request);
    const pretends = call !== null && PRETENDED.has(request.endpointId);
    const honest = pretends ? NOTHING : await pass(target(), request);
    const { status, headers, body } = answer(request, honest);
    response.writeHead(status, { ...headers, ...(status === 204 ? {} : { "content-length": String(body.length) }) });
    response.end(request.method === "HEAD" ? undefined : body);
  };
  const server = await listenOnLoopback(handle);
  return {
    ...server,
    get lies() {
      return [...lied.values()].reduce((sum, one) => sum + one, 0);
    },
    lied,
    get sent() {
      return sent;
    },
    get told() {
      return told;
    },
    begin: (draw) => {
      sent = [];
      told = [];
      call = draw === null ? null : { plan: drawPlan(draw), draw, asked: new Map() };
    },
  };
}

const NOTHING: Answered = { status: 204, headers: {}, body: Buffer.alloc(0) };

function refusal(draw: Draw): Answered {
  const [code, status] = draw.pick(REFUSALS);
  const headers = { "content-type": "application/json", [HEADERS.errorCode.toLowerCase()]: code };
  return { status, headers, body: Buffer.from(JSON.stringify({ error: "Refused" })) };
}

function readJson({ headers, body }: Answered): Readonly<Record<string, unknown>> | null {
  if (headers["content-type"]?.includes("json") !== true || body.length === 0) return null;
  const said: unknown = JSON.parse(body.toString());
  return isFields(said) ? said : null;
}

const ENDPOINTS = endpointsOf(api).map((endpoint): readonly [EndpointDefinition, RegExp] => [
  endpoint,
  new RegExp(`^${endpoint.path.replaceAll(/\{\w+\}/g, "[^/]+")}/?$`),
]);

/** Of a request; `unknown` for none of the contract's. A path without parameters is preferred. */
function endpointOf(method: string, path: string): string {
  const fitting = ENDPOINTS.filter(([endpoint, pattern]) => endpoint.method === method && pattern.test(path));
  const exact = fitting.find(([endpoint]) => !endpoint.path.includes("{")) ?? fitting[0];
  return exact?.[0].id ?? "unknown";
}

async function receive(incoming: IncomingMessage): Promise<Sent> {
  const body = await buffer(incoming);
  const { method = "GET", url = "/" } = incoming;
  const [path = "/"] = url.split("?");
  return { endpointId: endpointOf(method, path), method, url, headers: flat(incoming), body };
}

/** Without those that are of one connection. */
function flat({ headers }: IncomingMessage): Record<string, string> {
  const { connection: _connection, "transfer-encoding": _encoding, "keep-alive": _alive, ...kept } = headers;
  return Object.fromEntries(Object.entries(kept).map(([name, value]) => [name, String(value)]));
}

/** With the proxy's own host, as the client named it: it is what signatures name. */
function pass(target: string, { method, url, headers, body }: Sent): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const outgoing = forward(`${target}${url}`, { method, headers }, (message) => {
      buffer(message).then((answer) => {
        resolve({ status: message.statusCode ?? 500, headers: flat(message), body: answer });
      }, reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
