/** What a page is told of a call that brings no answer, and how often the call was tried. */
import { createClient, kyTransport, SdkError, type Client } from "@coffer/sdk";
import { answerTest, type Where } from "./in-page-or-worker.ts";

export interface Told {
  readonly code: string;
  readonly retryable: boolean;
  readonly text: string;
  readonly attempts: number;
}

const acts = {
  account: (client: Client) => client.account.get(),
  /** A body that is sent in one request. */
  upload: (client: Client) => client.files.upload({ name: "a", body: new Blob([new Uint8Array(1024)]).stream() }),
};

export interface Called {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly act: keyof typeof acts;
  /** Through a `fetch` of the page's own that follows redirects, whatever it is told. */
  readonly follows?: boolean;
}

answerTest(async ({ baseUrl, apiKey, act, follows }: Called & { readonly where?: Where }): Promise<Told> => {
  let attempts = 0;
  const following = kyTransport({ fetch: (url, init) => fetch(url, { ...init, redirect: "follow" }) });
  const client = createClient({
    ...(follows === true ? { transport: following } : {}),
    baseUrl,
    credentials: { apiKey },
    middleware: [(request, next) => ((attempts += 1), next(request))],
  });
  const failure: unknown = await acts[act](client).then(
    () => null,
    (error: unknown) => error,
  );
  if (!(failure instanceof SdkError)) throw new Error(`no failure of the SDK: ${String(failure)}`);
  const { code, retryable } = failure;
  return { code, retryable, text: `${failure.message} ${failure.nextStep} ${JSON.stringify(failure)}`, attempts };
});
