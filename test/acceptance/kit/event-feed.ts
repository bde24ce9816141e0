/** Follows the event feed as a browser's EventSource would (WHATWG HTML §9.2), and hands over what came. */

/** One event of the stream, or the place that an event without data leaves. */
export interface FeedEvent {
  readonly id: string;
  /** `event:`; empty when there was none. */
  readonly kind: string;
  readonly data: string;
}

export interface Feed extends AsyncDisposable {
  readonly status: number;
  readonly headers: Headers;
  /** The next event that has data; rejects after twenty seconds, or when the stream ends. */
  next(): Promise<FeedEvent>;
  /** The lines that came before any event. */
  opening(): string;
}

const LIMIT = 60_000;

export async function openFeed(
  baseUrl: string,
  key: string,
  { query = "", headers = {} }: { readonly query?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Feed> {
  const closing = new AbortController();
  const response = await fetch(new URL(`/api/events${query}`, baseUrl), {
    headers: { accept: "text/event-stream", authorization: `Bearer ${key}`, ...headers },
    signal: closing.signal,
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let opening = "";
  const readBlock = async (): Promise<string> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        return block;
      }
      const { done, value } = await inTime(reader.read());
      if (done) throw new Error("the feed ended");
      text += value;
    }
  };
  return {
    status: response.status,
    headers: response.headers,
    opening: () => opening,
    async next() {
      for (;;) {
        const block = await readBlock();
        const fields = readFields(block);
        if (fields.data !== null) return { ...fields, data: fields.data };
        if (opening === "") opening = block;
      }
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await reader.cancel().catch(() => undefined);
    },
  };
}

function readFields(block: string): { id: string; kind: string; data: string | null } {
  const lines = block.split("\n").map((line) => /^(\w*): ?(.*)$/.exec(line));
  const value = (name: string): string | null => lines.findLast((line) => line?.[1] === name)?.[2] ?? null;
  return { id: value("id") ?? "", kind: value("event") ?? "", data: value("data") };
}

async function inTime<Value>(work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came in ${LIMIT} ms`)), LIMIT);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
