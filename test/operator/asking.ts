/** Single requests to a server whose storage is in trouble. */
import { api, type CallInput, type EndpointDefinition } from "@coffer/contract";
import { renderRequest } from "../conformance/wire.ts";

export interface Answered {
  readonly status: number;
  readonly code: string | null;
  readonly retryAfter: string | null;
  readonly text: string;
}

export async function ask<E extends EndpointDefinition>(
  baseUrl: string,
  endpoint: E,
  input: CallInput<E, Uint8Array>,
  key: string | null = null,
): Promise<Answered> {
  const answer = await fetch(renderRequest(baseUrl, endpoint, input, { key }));
  const { headers, status } = answer;
  const text = await answer.text();
  return { status, code: headers.get("x-error-code"), retryAfter: headers.get("retry-after"), text };
}

export const upload = (baseUrl: string, key: string, name: string, bytes = 1000): Promise<Answered> =>
  ask(baseUrl, api.files.upload, { query: { name }, headers: {}, body: Buffer.alloc(bytes, name) }, key);

/** The value of one series, such as `coffer_storage_up{part="database"}`; null: there is none. */
export async function readMetric(baseUrl: string, series: string): Promise<number | null> {
  const { text } = await ask(baseUrl, api.system.metrics, {});
  const line = text.split("\n").find((each) => each.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
}

/** Asks again until it holds; the test's own limit ends the wait otherwise. */
export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 200));
}
