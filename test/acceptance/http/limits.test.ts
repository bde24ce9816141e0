import { describe, expect, it } from "vitest";
import { signUp } from "../kit/account.ts";
import { runSql } from "../kit/data-directory.ts";
import { openUpload } from "../kit/http.ts";
import { expectError, expectStatus, fieldsAt, objectIn } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const KIB = 1024;
const GIB = KIB ** 3;

const service = useService();
const small = useService({
  SERVICE_PRO_FILE_BYTES: String(10 * KIB),
  SERVICE_PRO_STORAGE_BYTES: String(15 * KIB),
  SERVICE_FREE_FILE_BYTES: String(5 * KIB),
});

describe("sizes", () => {
  it("are 5 GiB a raw upload and 50 GiB a tus upload by default [D2-file-sizes]", async () => {
    const { server, owner } = service();
    const tooLarge = openUpload(
      server.baseUrl,
      "/api/files?name=large.bin",
      owner.apiKey,
      new Uint8Array(KIB),
      5 * KIB ** 2 + 1,
    );
    await tooLarge.sendPieces(1);
    expect(await tooLarge.outcome).toMatchObject({ status: 413 });
    const options = await service().ask("OPTIONS", "/api/uploads", { key: "" });
    expect(options.headers.get("tus-max-size")).toBe(String(50 * GIB));
  });

  it("of the plans: pro 5 GiB a file and 1 TiB, free 100 MiB and 10 GiB [D2-plans]", async () => {
    const limits = async (): Promise<Readonly<Record<string, unknown>>> =>
      objectIn(objectIn(fieldsAt(await service().ask("GET", "/api/account"), 200), "account"), "limits");
    expect(await limits()).toMatchObject({ fileBytes: 5 * GIB, storageBytes: KIB * GIB });
    const { owner, dataDirectory } = service();
    await runSql(dataDirectory, "UPDATE accounts SET plan = 'free' WHERE id = ?", owner.id);
    expect(await limits()).toMatchObject({ fileBytes: 100 * KIB ** 2, storageBytes: 10 * GIB });
    await runSql(dataDirectory, "UPDATE accounts SET plan = 'pro' WHERE id = ?", owner.id);
  });

  it("of one file beyond the plan are 413 [D1-file-over-maximum-413 D2-environment]", async () => {
    const body = new Uint8Array(10 * KIB + 1);
    expectError(await small().ask("POST", "/api/files?name=over.bin", { body }), 413, "file_too_large");
    expectStatus(await small().ask("POST", "/api/files?name=fits.bin", { body: body.subarray(1) }), 201);
  });

  it("of the account beyond the quota are 403 [D1-quota-403]", async () => {
    const { apiKey: key } = await signUp(small().server.baseUrl);
    expectStatus(await small().ask("POST", "/api/files?name=a", { key, body: new Uint8Array(10 * KIB) }), 201);
    const over = { key, body: new Uint8Array(6 * KIB) };
    const message = expectError(await small().ask("POST", "/api/files?name=b", over), 403, "storage_quota");
    expect(message).toBe("Storage quota exceeded");
    expectStatus(await small().ask("POST", "/api/files?name=c", { key, body: new Uint8Array(5 * KIB) }), 201);
  });
});
