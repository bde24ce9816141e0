import { expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { listenOnLoopback } from "../../../test/kit/loopback.ts";
import { createRedaction } from "./redaction.ts";
import { createServiceLink } from "./service-link.ts";

it("tells the service the origins of stores in SERVICE_CONTENT_ORIGINS, and takes none that it must not", async () => {
  const told: unknown[] = [];
  await using service = await listenOnLoopback((request, response) => {
    told.push(request.headers["coffer-content-origins"]);
    response.writeHead(404).end();
  });
  const open = (origins: string) => {
    const env = { SERVICE_BASE_URL: service.baseUrl, SERVICE_API_KEY: `cof_${"K".repeat(49)}` };
    const places = { SERVICE_CONFIG_DIR: makeDirectory(), SERVICE_CONTENT_ORIGINS: origins };
    const redaction = createRedaction();
    return createServiceLink({
      env: { ...env, ...places },
      configFile: null,
      redaction,
      application: "test/1",
    }).client();
  };
  for (const origins of ["", "https://s3.example.com, http://127.0.0.1:9"]) {
    const client = await open(origins);
    await expect(client.files.download("0b5fa1c6-2f0c-4c5f-8f3e-1d1f5a0f6c11")).rejects.toThrow();
  }
  expect(told).toEqual([undefined, "https://s3.example.com http://127.0.0.1:9"]);
  await expect(open("http://s3.example.com")).rejects.toMatchObject({ code: "configuration" });
});
