import { expect, test } from "vitest";
import { openMemoryBlobs } from "../../../../storage.test-kit.ts";
import { answerOf, bodyOf, codeOf, contextOf, openTestService } from "../../../service.test-kit.ts";
import { renderMetadata } from "./metadata.ts";

test.each(["vault", "folder", "file"] as const)(
  "an upload to a %s whose vault is deleted while it is being begun is 404",
  async (goal) => {
    const blobs = openMemoryBlobs();
    await using service = await openTestService({ blobs });
    const { handlers, owner } = service;
    const context = contextOf(owner);
    const { vault } = answerOf(await handlers.vaults.create({ body: { name: "V", type: "public" } }, context));
    const vaultId = vault.id;
    const { folder } = answerOf(await handlers.folders.create({ body: { name: "F", vaultId } }, context));
    const upload = { query: { vaultId, name: "f" }, headers: {}, body: bodyOf("content") };
    const { file } = answerOf(await handlers.files.upload(upload, context));
    const begin = blobs.start.bind(blobs);
    blobs.start = async (key) => {
      await begin(key);
      await handlers.vaults.delete({ params: { vaultId }, query: { force: true }, headers: {} }, context);
    };
    const place = goal === "vault" ? { vaultId } : { folderId: folder.id };
    const metadata = goal === "file" ? { fileId: file.id } : { ...place, filename: "new" };
    const headers = { "tus-resumable": "1.0.0", "upload-length": 5, "upload-metadata": renderMetadata(metadata) };
    const creation = handlers.uploads.create({ headers, body: bodyOf("", { length: null }) }, context);
    expect(await codeOf(creation)).toBe("not_found");
  },
);
