/** The sender port: one POST to somebody else's address, without harm to this network. */
export interface OutgoingWebhook {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Why there was no 2xx: the words of a delivery's `lastError` (decisions §6). `HTTP <status>` for an answer. */
export type WebhookFailure =
  | "timeout"
  | "dns"
  | "tls"
  | "connection refused"
  | "connection reset"
  | "blocked address"
  | "invalid url"
  | "bad response"
  | "proxy"
  | `HTTP ${number}`;

export interface WebhookOutcome {
  /** 0 when no HTTP answer came. */
  readonly httpStatus: number;
  /** null: the status of a 2xx has arrived, whatever became of the body behind it. */
  readonly failure: WebhookFailure | null;
  /** What `Retry-After` of a 429, 502, 503 or 504 asked for, in milliseconds, at most 24 hours; null: nothing. */
  readonly retryAfter: number | null;
  /** At most 16 KiB of the answer, as text without control characters; what follows is not read. */
  readonly responseBody: string;
  /** Milliseconds. */
  readonly duration: number;
}

/**
 * Failure contract. `send` never rejects: a failure is an outcome. It ends within 15 s in total and 5 s for the
 * connection, and follows no redirect. It sends nothing to an address that `isAllowed` refuses, whatever the URL, the
 * resolver or a rebinding name says (OWASP API7:2023). It tries a connection that the peer had closed while it was
 * idle once more at once; that is still one attempt. Aborting ends it with `timeout`, and so does disposing.
 */
export interface WebhookSender extends AsyncDisposable {
  /** Why an address cannot be a webhook's at all, for code that registers it; null: it can. */
  refusal(url: string): WebhookFailure | null;
  send(webhook: OutgoingWebhook, signal?: AbortSignal): Promise<WebhookOutcome>;
}
