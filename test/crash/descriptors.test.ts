import { expect, it } from "vitest";
import { api } from "@coffer/contract";
import { renderRequest } from "../conformance/wire.ts";
import { makeDirectory } from "../kit/directory.ts";
import { openConnection } from "./faults.ts";
import { signUp } from "../kit/signed-up.ts";
import { startServerProcess } from "./server-process.ts";

it("survives running out of file descriptors: refuses or answers by the contract, and recovers", async () => {
  const directory = makeDirectory();
  await using server = await startServerProcess({ directory, openFiles: 64 });
  const { key } = await signUp(server.baseUrl);
  const idle = await Promise.all(Array.from({ length: 100 }, () => openConnection(server.baseUrl, "")));
  const statuses = await Promise.all(
    Array.from({ length: 40 }, (_, at) => tryUpload(server.baseUrl, key, `scarce-${String(at)}`)),
  );
  for (const status of statuses) expect([201, 503, "refused"]).toContain(status);

  for (const { socket } of idle) socket.destroy();
  await Promise.all(idle.map(({ closed }) => closed));
  await recovers(server.baseUrl, key);
  const listed = (await (
    await fetch(renderRequest(server.baseUrl, api.files.list, { query: { limit: 1000 } }, { key }))
  ).json()) as { files: { name: string }[] };
  const scarce = listed.files.filter(({ name }) => name.startsWith("scarce-"));
  expect(scarce.length).toBeGreaterThanOrEqual(statuses.filter((status) => status === 201).length);
});

async function tryUpload(baseUrl: string, key: string, name: string): Promise<number | "refused"> {
  const request = renderRequest(
    baseUrl,
    api.files.upload,
    { query: { name }, headers: {}, body: new Uint8Array(100) },
    { key },
  );
  try {
    const answer = await fetch(new Request(request, { signal: AbortSignal.timeout(2_000) }));
    await answer.bytes();
    return answer.status;
  } catch {
    return "refused";
  }
}

/** The next uploads work again; the test's own limit ends the wait otherwise. */
async function recovers(baseUrl: string, key: string): Promise<void> {
  for (let attempt = 0; (await tryUpload(baseUrl, key, `recovered-${String(attempt)}`)) !== 201; attempt += 1);
}
