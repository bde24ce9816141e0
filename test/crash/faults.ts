/** Requests that go wrong on purpose, byte by byte. */
import { request, type ClientRequest, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";

export interface OpenUpload {
  readonly request: ClientRequest;
  /** Status and X-Error-Code once the answer is there. */
  readonly answered: Promise<{ status: number; code: string | null; headers: IncomingMessage["headers"] }>;
}

/** Begins a raw upload of `length` bytes and sends nothing of its body yet. */
export function beginUpload(baseUrl: string, key: string, name: string, length: number): OpenUpload {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-length": length,
    "content-type": "application/octet-stream",
  };
  const sent = request(new URL(`/api/files?name=${name}`, baseUrl), { method: "POST", headers, agent: false });
  sent.flushHeaders();
  const answered = once(sent, "response").then(async ([response]) => {
    const message = response as IncomingMessage;
    message.resume();
    await once(message, "end");
    return {
      status: message.statusCode ?? 0,
      code: message.headers["x-error-code"]?.toString() ?? null,
      headers: message.headers,
    };
  });
  // Whoever does not wait for the answer must not fail the process with it.
  answered.catch(() => undefined);
  return { request: sent, answered };
}

/** Opens a connection, writes, and keeps it; `closed` resolves when the server cuts it. */
export async function openConnection(
  baseUrl: string,
  text: string,
): Promise<{ socket: Socket; closed: Promise<void> }> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  const closed = new Promise<void>((resolve) =>
    socket.once("close", () => {
      resolve();
    }),
  );
  socket.on("error", () => undefined);
  await Promise.race([once(socket, "connect"), closed]);
  socket.write(text);
  return { socket, closed };
}

/** The highest resident memory of a process so far, in bytes (Linux: proc(5), VmHWM); null where that is unknown. */
export function peakMemory(pid: number): number | null {
  try {
    const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, "utf8"))?.[1];
    return kibibytes === undefined ? null : Number(kibibytes) * 1024;
  } catch {
    return null;
  }
}
