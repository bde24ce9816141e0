import { expect, it } from "vitest";
import { listenOnLoopback } from "../../../test/kit/loopback.ts";
import { boundedFetch } from "./bounded-fetch.ts";

it("hands on an answer as it is, up to a mebibyte, and no more", async () => {
  await using server = await listenOnLoopback((request, response) => {
    const size = Number(new URL(request.url ?? "", "http://x").searchParams.get("size"));
    response.writeHead(size === 0 ? 204 : 201, { "x-kept": "yes" }).end(Buffer.alloc(size, "a"));
  });
  const ask = (size: number) => boundedFetch(`${server.baseUrl}/?size=${size}`);
  expect(await ask(0)).toMatchObject({ status: 204 });
  const whole = await ask(1024 * 1024);
  expect([whole.status, whole.headers.get("x-kept")]).toEqual([201, "yes"]);
  expect(await whole.text()).toHaveLength(1024 * 1024);
  await expect(ask(1024 * 1024 + 1)).rejects.toThrow(TypeError);
});
