import { setTimeout as wait } from "node:timers/promises";
import { expect, describe, it } from "vitest";
import { createKey, fileNames, revokeKey } from "../kit/account.ts";
import { openUpload } from "../kit/http.ts";
import { useService } from "../kit/service.ts";

const service = useService();
const KIB = 1024;

describe("an upload whose key is revoked on the way", () => {
  it("is cut within seconds although it has only begun [D4-in-flight-cut S3-key-revoked-in-flight]", async () => {
    const { server, owner } = service();
    const key = await createKey(server.baseUrl, owner.apiKey, { name: "long" });
    const pieces = 10_000;
    const upload = openUpload(server.baseUrl, "/api/files?name=cut.bin", key.key, new Uint8Array(KIB), pieces);
    await upload.sendPieces(10);
    await revokeKey(server.baseUrl, owner.apiKey, key.id);
    const progress = { answered: false };
    const outcome = upload.outcome.finally(() => (progress.answered = true));
    // At this pace the whole body would take eight minutes.
    for (let sent = 10; sent < pieces && !progress.answered; sent += 1) {
      await upload.sendPieces(1);
      await wait(50);
    }
    expect(await outcome).toMatchObject({ status: 401 });
    expect(await fileNames(server.baseUrl, owner.apiKey)).not.toContain("cut.bin");
  });
});

describe("a resumable upload whose key is revoked on the way", () => {
  it("fails with 401 in the middle of a part and makes no file [D4-in-flight-recheck S3-key-revoked-in-flight]", async () => {
    const { server, owner } = service();
    const key = await createKey(server.baseUrl, owner.apiKey, { name: "part" });
    const metadata = `filename ${Buffer.from("part.bin").toString("base64")}`;
    const tus = { "tus-resumable": "1.0.0" };
    const create = {
      key: key.key,
      headers: { ...tus, "upload-length": String(10 * KIB), "upload-metadata": metadata },
    };
    const location = (await service().ask("POST", "/api/uploads", create)).headers.get("location") ?? "";
    const headers = { ...tus, "upload-offset": "0", "content-type": "application/offset+octet-stream" };
    const path = new URL(location, server.baseUrl).pathname;
    const part = openUpload(server.baseUrl, path, key.key, new Uint8Array(KIB), 10, headers, "PATCH");
    await part.sendPieces(9);
    await revokeKey(server.baseUrl, owner.apiKey, key.id);
    await part.sendPieces(1);
    expect(await part.outcome).toMatchObject({ status: 401 });
    expect(await fileNames(server.baseUrl, owner.apiKey)).not.toContain("part.bin");
  });
});
