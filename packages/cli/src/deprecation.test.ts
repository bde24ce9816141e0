/** The service says that an operation will go: the person is told once, beside the result. */
import { expect, it } from "vitest";
import { coffer } from "../../../test/kit/coffer.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { listenOnLoopback } from "../../../test/kit/loopback.ts";

it("warns on standard error, once per process and operation [D1-deprecation]", async () => {
  await using service = await listenOnLoopback((_request, response) => {
    const ending = { deprecation: "@1793491200", sunset: "Sat, 01 May 2027 00:00:00 GMT" };
    response.writeHead(200, { "content-type": "application/json", ...ending });
    response.end(JSON.stringify({ vaults: [], nextCursor: null }));
    return Promise.resolve();
  }, 0);
  const env = { SERVICE_BASE_URL: service.baseUrl, SERVICE_API_KEY: `cof_${"K".repeat(49)}` };
  const list = () => coffer(["vaults", "list", "--json"], makeDirectory(), { env });
  const first = await list();
  expect([first.code, JSON.parse(first.out)]).toEqual([0, expect.objectContaining({ vaults: [] })]);
  expect(first.err).toBe("warning: The service will end vaults.list on 2027-05-01. Update this program before\n");
  expect(await list()).toMatchObject({ code: 0, err: "" });
});
