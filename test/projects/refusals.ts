/**
 * What every runtime does with a service that answers with redirects. Copied into projects as `scenario.ts` is. The address of the service has
 * the status of the answer and the kind of transport as its path.
 */
import type * as Sdk from "@coffer/sdk";
import type { Transport } from "@coffer/sdk";

/** The credential that must reach no other origin. */
export const REDIRECTED_KEY = `cof_${"k".repeat(49)}`;
/** More than one request's bytes, so that it is sent as a stream where the runtime can. */
const STREAM_BYTES = 9 * 1024 * 1024;

/** Rejects at the first answer that is not refused as it should be. */
export async function refuseRedirects(
  sdk: Pick<typeof Sdk, "createClient" | "kyTransport" | "ConnectionError">,
  serviceUrl: string,
): Promise<void> {
  const transports: Readonly<Record<string, () => Transport>> = {
    default: () => sdk.kyTransport(),
    caller: () => sdk.kyTransport({ fetch: (url, init) => fetch(url, init) }),
    manual: () => sdk.kyTransport({ fetch: (url, init) => fetch(url, { ...init, redirect: "manual" }) }),
    follows: () => sdk.kyTransport({ fetch: (url, init) => fetch(url, { ...init, redirect: "follow" }) }),
  };
  for (const status of [301, 307, 308])
    for (const [kind, open] of Object.entries(transports)) {
      const transport = open();
      let calls = 0;
      const client = sdk.createClient({
        baseUrl: `${serviceUrl}/${String(status)}/${kind}`,
        credentials: { apiKey: REDIRECTED_KEY },
        transport: (request) => ((calls += 1), transport(request)),
      });
      const acts: (() => Promise<unknown>)[] = [() => client.account.get()];
      // A fetch that follows cannot send a stream a second time: no answer comes then, whatever the service said.
      if (kind !== "follows") acts.push(() => client.files.upload({ name: "a", body: streamOf(STREAM_BYTES) }));
      for (const [index, act] of acts.entries()) {
        const failure: unknown = await act().catch((error: unknown) => error);
        const { code, retryable } = failure as { readonly code?: unknown; readonly retryable?: unknown };
        const fits = failure instanceof sdk.ConnectionError && code === "redirected" && retryable === false;
        if (!fits || calls !== index + 1 || describe(failure).includes("secret-place"))
          throw new Error(
            `${String(status)}, ${kind}, act ${String(index)}, ${String(calls)} calls: ${describe(failure)}`,
          );
      }
    }
}

function describe(failure: unknown): string {
  const { message, stack, cause } = failure as Error;
  return [message, stack, JSON.stringify(failure), cause === undefined ? "" : describe(cause)].join("\n");
}

function streamOf(size: number): ReadableStream<Uint8Array> {
  let left = size;
  return new ReadableStream({
    pull(controller) {
      const chunk = new Uint8Array(Math.min(left, 65_536));
      left -= chunk.length;
      if (chunk.length > 0) controller.enqueue(chunk);
      else controller.close();
    },
  });
}
