/** A process that has no file descriptors left for a moment, and strangers who would take the last ones. */
import { connect, type Socket } from "node:net";
import { api } from "@coffer/contract";
import { expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { signUp } from "../kit/signed-up.ts";
import { startServerProcess } from "../crash/server-process.ts";
import { ask, eventually, readMetric, upload } from "./asking.ts";

const OPEN_FILES = 96;

it("strangers cannot take the last descriptors: callers with a credential read and write beside them", async () => {
  await using server = await startServerProcess({ directory: makeDirectory(), openFiles: OPEN_FILES });
  const { key } = await signUp(server.baseUrl);
  const strangers = await Promise.all(Array.from({ length: 3 * OPEN_FILES }, () => connectTo(server.port)));
  try {
    // The connection of the sign-up had no credential, and is cut with the first of them: nothing is sent on it any more then.
    await eventually(() => Promise.resolve(strangers.filter(({ isOpen }) => isOpen()).length <= OPEN_FILES / 2));
    for (let at = 0; at < 20; at += 1) {
      expect((await upload(server.baseUrl, key, `beside-${String(at)}`)).status).toBe(201);
      expect((await ask(server.baseUrl, api.files.list, { query: {} }, key)).status).toBe(200);
    }
    expect((await ask(server.baseUrl, api.system.ready, {})).status).toBe(200);
    expect(strangers.filter(({ isOpen }) => isOpen()).length).toBeLessThanOrEqual(OPEN_FILES / 2);
  } finally {
    for (const { socket } of strangers) socket.destroy();
  }
});

it("uploads that meet a moment without descriptors get 503, and the next ones are stored", async () => {
  await using server = await startServerProcess({ directory: makeDirectory(), openFiles: OPEN_FILES });
  const { key } = await signUp(server.baseUrl);
  // Their holder has a credential, so nothing keeps them from taking all.
  const head = `GET /api/account HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const held: Held[] = [];
  const answers = [];
  for (let round = 0; round < 4; round += 1) {
    held.push(...(await Promise.all(Array.from({ length: 20 }, () => connectTo(server.port, head)))));
    for (let at = 0; at < 4; at += 1)
      answers.push(await upload(server.baseUrl, key, `scarce-${String(round)}-${String(at)}`).catch(() => null));
  }
  for (const answer of answers)
    if (answer !== null && answer.status !== 201) expect(answer).toMatchObject({ status: 503, code: "unavailable" });
  for (const { socket } of held) socket.destroy();
  await eventually(async () => (await upload(server.baseUrl, key, "once-more").catch(() => null))?.status === 201);
  for (let at = 0; at < 10; at += 1)
    expect((await upload(server.baseUrl, key, `after-${String(at)}`)).status).toBe(201);
  expect(server.log.some(({ state }) => state === "stopped")).toBe(false);
  await eventually(async () => (await readMetric(server.baseUrl, 'coffer_storage_up{part="blobs"}')) === 1);
});

interface Held {
  readonly socket: Socket;
  readonly isOpen: () => boolean;
}

/** Resolves with the answer's beginning, or once the server has cut the connection. */
function connectTo(port: number, text = ""): Promise<Held> {
  const socket = connect(port, "127.0.0.1");
  let isOpen = true;
  const held = { socket, isOpen: () => isOpen };
  return new Promise((resolve) => {
    socket
      .on("error", () => undefined)
      .once("close", () => {
        isOpen = false;
        resolve(held);
      });
    if (text === "") return void socket.once("connect", () => resolve(held));
    socket.once("data", () => resolve(held)).write(text);
  });
}
