/** Pages that the service serves itself if there is no web application: plain forms over operations of the contract. */
import { isUtf8 } from "node:buffer";
import type { api, EndpointDefinition, SessionTokens } from "@coffer/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type GroupHandlers, Reply } from "../../handler.ts";
import { clientKeyOf } from "../../limits/client-key.ts";
import { addressBucketOf } from "../../limits/policies.ts";
import { ServiceError } from "../../service-error.ts";
import { FREE_BODY_BYTES } from "../../limits/body-room.ts";
import { CallContext } from "../call.ts";
import { isPercentEncoded } from "../framing.ts";
import type { Pipeline } from "../implement.ts";
import { parseSection } from "../input.ts";
import { collectBody } from "../json-body.ts";
import { addressOf } from "../origin.ts";
import { answerFailure, sendText } from "../responses.ts";
import { type Form, formsOf, renderForm } from "./forms.ts";
import { markup, PAGE_HEADERS, renderPage } from "./html.ts";
import { describeProblem } from "./problems.ts";
import { renderReturn } from "./returned.ts";

export interface PagesOptions extends Pick<
  Pipeline,
  "settings" | "limits" | "authenticator" | "stopping" | "bodyRoom"
> {
  readonly auth: GroupHandlers<typeof api.auth>;
}

/** Registers the pages. They are there only where links in mails lead to this service. */
export function servePages(app: FastifyInstance, options: PagesOptions): void {
  const base = new URL(options.settings.appUrl).pathname.replace(/\/$/, "");
  app.get("/auth/callback", (request, reply) => {
    const { status, page } = renderReturn(queryOf(request));
    sendPage(request, reply, status, page);
  });
  for (const form of formsOf(options.settings)) {
    const view = { form, base, options };
    app.get(`/${form.path}`, (request, reply) => {
      showForm(view, request, reply);
    });
    app.post(`/${form.path}`, (request, reply) => {
      request.call.endpointId = form.endpoint.id;
      submit(view, request, reply).catch((error: unknown) => answerFailure(error, request, reply));
    });
  }
}

interface View {
  readonly form: Form;
  readonly base: string;
  readonly options: PagesOptions;
}

type Values = ReadonlyMap<string, string>;

const LONGEST_FROM_QUERY = 512;

function showForm({ form, base }: View, request: FastifyRequest, reply: FastifyReply): void {
  const { fromQuery } = form;
  const values = new Map<string, string>();
  if (fromQuery !== undefined) {
    const given = queryOf(request).getAll(fromQuery.parameter);
    const [value = ""] = given;
    if (given.length === 1 && value.length <= LONGEST_FROM_QUERY) values.set(fromQuery.field, value);
  }
  sendPage(request, reply, 200, renderPage(form.title, renderForm(form, { values, problem: null, base })));
}

/** The operation's own limit, schema and handler: a form can do no more, and no less, than the API. */
async function submit(view: View, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { form, base, options } = view;
  let values: Values = new Map();
  try {
    requireOwnPage(request, options.settings.publicUrl);
    await takeFromBucket(form.endpoint, request, options);
    values = readFields(form, await readForm(request, options));
    await perform(view, request, reply, values);
  } catch (error) {
    const { failure, text, again } = describeProblem(error, form, base);
    request.call.errorCode = failure.code;
    if (failure.unexpected) request.server.recordFault(error, request);
    const content = again ? renderForm(form, { values, problem: text, base }) : markup`<p role="alert">${text}</p>`;
    sendPage(request, reply, failure.status, renderPage(form.title, content), failure.headers);
    return;
  }
  const { title, text } = form.done;
  sendPage(request, reply, 200, renderPage(title, markup`<p>${text}</p>`));
}

async function perform({ form, options }: View, request: FastifyRequest, reply: FastifyReply, values: Values) {
  const { endpoint, name } = form;
  const { authenticator, stopping, settings, auth } = options;
  const parts = { authenticator, stopping, reservation: null, publicUrl: settings.publicUrl };
  const context = new CallContext(endpoint, request, reply, parts);
  // The schema is the handler's own: past it they are called by name, as in implement.ts.
  const body = parseSection("body", endpoint.body, Object.fromEntries(values)) as never;
  const answer: unknown = await auth[name]({ body }, context as never);
  const tokens = (answer instanceof Reply ? answer.body : answer) as Partial<SessionTokens>;
  // A page has nobody to give tokens to: the session ends before it begins.
  if (tokens.refreshToken !== undefined)
    await auth.logout({ body: { refreshToken: tokens.refreshToken } }, context as never);
}

/**
 * A form of another site must not act here. There is no cookie that it could borrow, so it could do no more than its
 * author can. Browsers name the origin of a form all the same. `Origin` is `null` if a page sends no Referer, as these
 * do.
 */
function requireOwnPage({ headers }: FastifyRequest, publicUrl: string | null): void {
  const { "sec-fetch-site": site, origin, host } = headers;
  const isOwn =
    site === undefined
      ? origin === undefined ||
        URL.parse(origin)?.host === host ||
        (publicUrl !== null && origin === new URL(publicUrl).origin)
      : site === "same-origin";
  if (!isOwn) throw new ServiceError("form_origin");
}

async function takeFromBucket(
  endpoint: EndpointDefinition,
  request: FastifyRequest,
  { limits }: PagesOptions,
): Promise<void> {
  const bucket = addressBucketOf(endpoint);
  if (bucket !== undefined) request.call.quota = await limits.consume(bucket, clientKeyOf(addressOf(request)));
}

const FORM_TYPE = "application/x-www-form-urlencoded";

async function readForm(request: FastifyRequest, { settings, bodyRoom }: PagesOptions): Promise<URLSearchParams> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type !== FORM_TYPE) throw new ServiceError("unsupported_media_type", `Unsupported media type: send ${FORM_TYPE}`);
  using place = bodyRoom.open(clientKeyOf(addressOf(request)));
  const bytes = await collectBody(request.raw, {
    bytes: FREE_BODY_BYTES,
    milliseconds: settings.timing.jsonBody,
    place,
  });
  request.call.bytesIn += bytes.length;
  const text = bytes.toString("utf8");
  if (!isUtf8(bytes) || !isPercentEncoded(text))
    throw new ServiceError("validation_failed", "body: not UTF-8 in percent-encoding");
  return new URLSearchParams(text);
}

/** What the form has fields for, each once, and nothing else. An optional field that was left empty is left out. */
function readFields({ fields }: Form, sent: URLSearchParams): Values {
  const optional = new Set(fields.filter((field) => field.optional === true).map(({ name }) => name));
  const names = fields.map((field) => field.name);
  if ([...sent.keys()].some((name) => !names.includes(name)))
    throw new ServiceError("validation_failed", "body: The form has no such field");
  const values = new Map<string, string>();
  for (const name of names) {
    const [value = "", ...more] = sent.getAll(name);
    if (more.length > 0) throw new ServiceError("validation_failed", `body.${name}: Given more than once`);
    if (value !== "" || !optional.has(name)) values.set(name, value);
  }
  return values;
}

function queryOf({ url }: FastifyRequest): URLSearchParams {
  const at = url.indexOf("?");
  return new URLSearchParams(at === -1 ? "" : url.slice(at + 1));
}

function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendText(request, reply, { status, headers: { ...headers, ...PAGE_HEADERS }, body });
}
