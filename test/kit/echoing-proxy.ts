/** A service that gives back what it was told: it stands between a client and a real one. */
import { request as forward } from "node:http";
import { buffer } from "node:stream/consumers";
import { listenOnLoopback, type LoopbackServer } from "./loopback.ts";

/** How it fails. null: it passes everything on. */
export type EchoMode = { readonly code: string; readonly status: number } | "broken" | "garbage" | null;

export interface EchoingProxy extends LoopbackServer {
  mode: EchoMode;
  /** Keys and tokens that it was given while it failed. */
  readonly given: ReadonlySet<string>;
}

/** A text as layers write it: plain, hex, base64 wherever it begins, and percent-encoded. */
export function encoded(text: string): string {
  const bytes = Buffer.from(text);
  const shifted = [0, 1, 2].map((shift) => Buffer.concat([Buffer.alloc(shift, "#"), bytes, Buffer.from("tail")]));
  const percent = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  return [
    ...[text, bytes.toString("hex"), bytes.toString("hex").toUpperCase(), JSON.stringify(JSON.stringify(text))],
    ...shifted.flatMap((each) => [each.toString("base64"), each.toString("base64url")]),
    ...[encodeURIComponent(text), percent],
  ].join(" ");
}

/** A failure of it repeats the key or token of its caller, in every encoding, wherever an answer has room. */
export async function openEchoingProxy(target: string): Promise<EchoingProxy> {
  const given = new Set<string>();
  const state: { mode: EchoMode } = { mode: null };
  const server = await listenOnLoopback(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const { mode } = state;
    if (mode === null) {
      const { method, headers, url = "/" } = incoming;
      const passed = forward(`${target}${url}`, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      passed.on("error", () => outgoing.destroy());
      passed.end(body);
      return;
    }
    const bearer = (incoming.headers.authorization ?? "").replace("Bearer ", "");
    const key = /"refreshToken":"([^"]+)"/.exec(body.toString())?.[1] ?? bearer;
    given.add(key);
    if (mode === "broken") outgoing.destroy();
    else if (mode === "garbage")
      outgoing.writeHead(200, { "content-type": "application/json" }).end(`{"${encoded(key)}`);
    else
      outgoing
        .writeHead(mode.status, {
          "content-type": "application/json",
          "x-error-code": mode.code,
          "x-request-id": key,
          etag: key,
          location: `/${key}`,
          "retry-after": "0",
        })
        .end(JSON.stringify({ error: encoded(key) }));
  });
  return {
    ...server,
    given,
    get mode() {
      return state.mode;
    },
    set mode(mode) {
      state.mode = mode;
    },
  };
}
