/** The process that holds vault keys: what it gives, to whom, and when it forgets. */
import { chmod, lstat, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { SharedVaults } from "@coffer/sdk";
import { afterEach, describe, expect, it, vi } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { withHeldKeys } from "./held-key-wrap.ts";
import { holdKeys } from "./holder.ts";
import { ask, MOST_BYTES, socketOf } from "./socket.ts";

const NAME = "ab".repeat(32);
const KEY = Buffer.alloc(32, 7).toString("base64");
const MINUTE = 60_000;

interface Running {
  readonly socket: string;
  readonly ended: Promise<boolean>;
  readonly stop: () => void;
  /** Milliseconds that the holder's clock is ahead. */
  readonly later: (milliseconds: number) => void;
}

const running: Running[] = [];
afterEach(async () => {
  for (const { ended, stop } of running.splice(0)) {
    stop();
    await ended;
  }
});

async function startHolder(socket = join(makeDirectory(), "keys.sock")): Promise<Running> {
  const stopping = new AbortController();
  let ahead = 0;
  const ready = Promise.withResolvers<undefined>();
  const ended = holdKeys(socket, {
    until: Date.now() + MINUTE,
    now: () => Date.now() + ahead,
    signal: stopping.signal,
    onReady: () => ready.resolve(undefined),
  });
  await Promise.race([ready.promise, ended]);
  const holder = { socket, ended, stop: () => stopping.abort(), later: (by: number) => void (ahead += by) };
  running.push(holder);
  return holder;
}

describe("the holder of vault keys [issue 19]", () => {
  it("gives back what was put, and null for what was not", async () => {
    const { socket } = await startHolder();
    expect(await ask(socket, { ask: "put", keys: { [NAME]: KEY } })).toEqual({});
    expect(await ask(socket, { ask: "get", names: ["cd".repeat(32), NAME] })).toEqual({ keys: [null, KEY] });
  });

  it("is reached by its user alone", async () => {
    const { socket } = await startHolder();
    expect((await lstat(socket)).mode & 0o777).toBe(0o600);
    await chmod(join(socket, ".."), 0o755);
    expect(await ask(socket, { ask: "get", names: [NAME] })).toBeNull();
  });

  it("forgets and goes when it is asked to, and leaves no file", async () => {
    const { socket, ended } = await startHolder();
    expect(await ask(socket, { ask: "end" })).toEqual({});
    expect(await ended).toBe(true);
    expect(await readdir(join(socket, ".."))).toEqual([]);
    expect(await ask(socket, { ask: "get", names: [NAME] })).toBeNull();
  });

  it("goes when its time is over, also a time that was moved", async () => {
    const { ended, later, socket } = await startHolder();
    await ask(socket, { ask: "hold", until: Date.now() + 2 * MINUTE });
    later(MINUTE + 1);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await ask(socket, { ask: "get", names: [] })).toEqual({ keys: [] });
    later(MINUTE + 1);
    expect(await ended).toBe(true);
  });

  it("goes when its socket is taken away", async () => {
    const { socket, ended } = await startHolder();
    await rm(socket);
    expect(await ended).toBe(true);
  });

  it("is one: a second one only sets its time", async () => {
    const first = await startHolder();
    await ask(first.socket, { ask: "put", keys: { [NAME]: KEY } });
    const second = await startHolder(first.socket);
    expect(await second.ended).toBe(false);
    expect(await ask(first.socket, { ask: "get", names: [NAME] })).toEqual({ keys: [KEY] });
  });

  it("takes the place of one that was killed", async () => {
    const socket = join(makeDirectory(), "keys.sock");
    await writeFile(socket, "");
    const { ended, stop } = await startHolder(socket);
    expect(await ask(socket, { ask: "get", names: [] })).toEqual({ keys: [] });
    stop();
    expect(await ended).toBe(true);
  });

  it.each([
    ["no JSON", "{"],
    ["another question", '{"ask":"list"}'],
    ["a key of another size", `{"ask":"put","keys":{"${NAME}":"AAAA"}}`],
    ["a malformed name", '{"ask":"get","names":["../x"]}'],
    ["too much", `{"ask":"get","names":["${"a".repeat(MOST_BYTES)}"]}`],
  ])("answers %s with nothing, and goes on", async (_, text) => {
    const { socket } = await startHolder();
    const connection = createConnection(socket);
    connection.on("error", () => undefined);
    connection.end(text);
    expect((await buffer(connection).catch(() => Buffer.alloc(0))).toString()).toBe("");
    expect(await ask(socket, { ask: "get", names: [] })).toEqual({ keys: [] });
  });
});

describe("where it is reached [issue 19]", () => {
  const of = { configFile: "/home/a/.config/coffer/config.json", profile: "default" };

  it("is beside the configuration, or in the directory of the system for such files", () => {
    expect(socketOf(of, {})).toMatch(/^\/home\/a\/\.config\/coffer\/keys-[0-9a-f]{16}\.sock$/);
    expect(socketOf(of, { XDG_RUNTIME_DIR: "/run/user/1" })).toMatch(
      /^\/run\/user\/1\/coffer\/keys-[0-9a-f]{16}\.sock$/,
    );
  });

  it("differs between profiles and configurations", () => {
    const sockets = [of, { ...of, profile: "other" }, { ...of, configFile: "/x/config.json" }];
    expect(new Set(sockets.map((each) => socketOf(each, { XDG_RUNTIME_DIR: "/r" }))).size).toBe(3);
  });
});

describe("a key wrap over held keys [issue 19]", () => {
  type OpenKeyWrap = NonNullable<SharedVaults["keyWrap"]>;
  type Sealed = Parameters<ReturnType<OpenKeyWrap>["unwrap"]>[0][number];
  const place = { vault: Buffer.alloc(32, 1), creator: Buffer.alloc(32, 2), generation: 3n, after: 0n };
  const sealed = (byte: number, more: Partial<Sealed["place"]> = {}): Sealed => ({
    sealedKey: Buffer.alloc(40, byte),
    place: { ...place, ...more },
  });
  const unwrap = vi.fn((items: readonly Sealed[]) =>
    Promise.resolve(items.map(({ sealedKey }) => new Uint8Array(32).fill(sealedKey[0] ?? 0))),
  );
  const close = vi.fn();
  const keyWrap = vi.fn(() => ({ unwrap, close }) as unknown as ReturnType<OpenKeyWrap>);
  afterEach(() => void vi.clearAllMocks());

  const wrapAt = (socket: string, chainAddress = "0x1") => {
    const parts = { signer: { chainAddress }, network: { chainId: "x" } } as unknown as Parameters<OpenKeyWrap>[0];
    const vaults = withHeldKeys({ keyWrap } as unknown as SharedVaults, socket);
    return vaults.keyWrap?.(parts) ?? expect.unreachable("there is a key wrap");
  };

  it("opens each key once, also for other processes, and in the order of the items", async () => {
    const { socket } = await startHolder();
    expect(await wrapAt(socket).unwrap([sealed(1)])).toEqual([new Uint8Array(32).fill(1)]);
    const keys = await wrapAt(socket).unwrap([sealed(2), sealed(1), sealed(3)]);
    expect(keys.map((key) => key[0])).toEqual([2, 1, 3]);
    expect(unwrap.mock.calls.map(([items]) => items.map(({ sealedKey }) => sealedKey[0]))).toEqual([[1], [2, 3]]);
    keyWrap.mockClear();
    const wrap = wrapAt(socket);
    // No key server is needed, so nothing is asked about them either.
    wrap.prepare();
    await wrap.unwrap([sealed(3), sealed(2)]);
    expect(keyWrap).not.toHaveBeenCalled();
  });

  it("gives no key to another address, and none for another place or other bytes", async () => {
    const { socket } = await startHolder();
    await wrapAt(socket).unwrap([sealed(1)]);
    await wrapAt(socket, "0x2").unwrap([sealed(1)]);
    await wrapAt(socket).unwrap([sealed(1, { generation: 4n })]);
    await wrapAt(socket).unwrap([sealed(1, { after: 5n })]);
    await wrapAt(socket).unwrap([sealed(1, { vault: Buffer.alloc(32, 9) })]);
    await wrapAt(socket).unwrap([sealed(1, { creator: Buffer.alloc(32, 9) })]);
    await wrapAt(socket).unwrap([sealed(4)]);
    expect(unwrap).toHaveBeenCalledTimes(7);
  });

  it("goes to the key servers when the holder is gone, answers nonsense or hangs", async () => {
    const holder = await startHolder();
    const wrap = wrapAt(holder.socket);
    holder.stop();
    await holder.ended;
    expect((await wrap.unwrap([sealed(1)]))[0]?.[0]).toBe(1);
    for (const answer of ['{"keys":[7]}', '{"keys":{}}', "[", null]) {
      const socket = join(makeDirectory(), "keys.sock");
      const server = createServer((connection) => {
        connection.on("error", () => undefined);
        if (answer !== null) connection.end(answer);
      });
      await new Promise<void>((resolve) => server.listen(socket, resolve));
      expect((await wrapAt(socket).unwrap([sealed(5)]))[0]?.[0]).toBe(5);
      server.close();
    }
  });

  it("offers nothing that key servers refused", async () => {
    const { socket } = await startHolder();
    unwrap.mockRejectedValueOnce(new Error("not a member"));
    await expect(wrapAt(socket).unwrap([sealed(1)])).rejects.toThrow("not a member");
    expect((await wrapAt(socket).unwrap([sealed(1)]))[0]?.[0]).toBe(1);
    expect(unwrap).toHaveBeenCalledTimes(2);
  });

  it("is not made where nothing holds keys", async () => {
    const directory = join(makeDirectory(), "state");
    await mkdir(directory, { mode: 0o700 });
    const vaults = { keyWrap } as unknown as SharedVaults;
    expect(withHeldKeys(vaults, join(directory, "keys.sock"))).toBe(vaults);
  });
});
