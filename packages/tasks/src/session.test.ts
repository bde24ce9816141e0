import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { resolveSettings } from "@coffer/sdk/node";
import { expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { createRedaction } from "./redaction.ts";
import { middlewareOf } from "./session.ts";

it("lets the SDK free the pieces of downloads, with a key as with a session", async () => {
  const directory = makeDirectory();
  const session = { accessToken: "access", refreshToken: "refresh", expiresAt: 4_000_000_000_000 };
  const profiles = { default: { baseUrl: "http://127.0.0.1:9", session } };
  writeFileSync(join(directory, "config.json"), JSON.stringify({ version: 1, defaultProfile: "default", profiles }), {
    mode: 0o600,
  });
  const leaving = async (env: Record<string, string>): Promise<unknown[]> => {
    const settings = await resolveSettings({ SERVICE_CONFIG_DIR: directory, ...env });
    const middleware = await middlewareOf(settings, { redaction: createRedaction() });
    return middleware.map(({ leavesBodies }) => leavesBodies);
  };
  expect(await leaving({ SERVICE_API_KEY: `cof_${"K".repeat(49)}` })).toEqual([true]);
  expect(await leaving({})).toEqual([true, true]);
});
