import { describe, expect, it, vi } from "vitest";
import { lazyDownload } from "./lazy-download.ts";

const FACTS = { size: 3, sha256: "", contentType: "text/plain", name: "a", etag: null, tag: null };

function make(bytes = Uint8Array.of(1, 2, 3)) {
  const open = vi.fn(() => Promise.resolve(bytes));
  const cancel = vi.fn(() => Promise.resolve());
  return {
    open,
    cancel,
    download: lazyDownload({ ...FACTS, range: { offset: 0, length: bytes.length } }, open, cancel),
  };
}

async function read(stream: ReadableStream<Uint8Array>): Promise<number[]> {
  return Array.from(new Uint8Array(await new Response(stream).arrayBuffer()));
}

describe("a download that is read at once", () => {
  it("reads nothing before it is asked to, then gives its bytes, or a stream of them", async () => {
    const [one, other] = [make(), make()];
    expect(one.open).not.toHaveBeenCalled();
    expect(Array.from(await one.download.bytes())).toEqual([1, 2, 3]);
    const { stream } = other.download;
    expect(other.open).not.toHaveBeenCalled();
    expect(other.download.stream).toBe(stream);
    expect(await read(stream)).toEqual([1, 2, 3]);
    expect(other.cancel).not.toHaveBeenCalled();
  });

  it("gives all of its stream at once, after it was looked at", async () => {
    const { download } = make();
    expect(download.stream.locked).toBe(false);
    expect(Array.from(await download.bytes())).toEqual([1, 2, 3]);
  });

  it("of nothing is nothing", async () => {
    expect(await read(make(new Uint8Array(0)).download.stream)).toEqual([]);
  });

  it("gives its bytes once: who asks again is refused, not told that there are none", async () => {
    const { download, open } = make();
    await download.bytes();
    await expect(download.bytes()).rejects.toMatchObject({ code: "invalid_request" });
    await expect(download.stream.getReader().read()).rejects.toMatchObject({ code: "invalid_request" });
    expect(open).toHaveBeenCalledTimes(1);
  });

  it("lets go of what was never read, when it is cancelled", async () => {
    const { cancel, download, open } = make();
    await download.stream.cancel();
    expect(cancel).toHaveBeenCalledTimes(1);
    expect(open).not.toHaveBeenCalled();
  });

  it("fails as reading it fails", async () => {
    const failing = (): Promise<Uint8Array<ArrayBuffer>> => Promise.reject(new Error("damaged"));
    const download = lazyDownload({ ...FACTS, range: { offset: 0, length: 3 } }, failing, () => Promise.resolve());
    await expect(read(download.stream)).rejects.toThrow("damaged");
  });
});
