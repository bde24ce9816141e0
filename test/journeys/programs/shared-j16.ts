/** J16: many writers, one vault. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseVersionStatement, verifyStatement } from "@coffer/crypto";
import { sha256Of } from "../../kit/bytes.ts";
import { fieldsOf, objectAt } from "../kit/account.ts";
import { send } from "../kit/http.ts";
import type { SharedPerson } from "../kit/shared-service.ts";
import { textOf } from "../kit/stack.ts";
import type { ToolAnswer, ToolServer } from "../kit/tool-server.ts";
import type { Checks, SharedWorld } from "./run.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const [WRITERS, FILES] = [8, FULL ? 50 : 6];

export async function writersTogether({ service, scratch }: SharedWorld): Promise<Checks> {
  const owner = await service.signUp();
  const { id: vaultId } = await owner.client.vaults.create({ name: "Busy", type: "shared" });
  const writers: SharedPerson[] = [];
  for (let count = 0; count < WRITERS; count += 1) writers.push(await service.invite(owner));
  for (const { address } of writers) await owner.client.vaults.members.add(vaultId, address);
  /** Who wrote it, by file id. */
  const written = new Map<string, { readonly writer: SharedPerson; readonly content: string }>();
  // Of its writer alone, without the address: that is public, and content may be nowhere in the clear.
  const contentOf = ({ address }: SharedPerson, turn: number): string => `${turn} of ${sha256Of(Buffer.from(address))}`;
  const write = async (writer: SharedPerson, turn: number): Promise<void> => {
    const content = contentOf(writer, turn);
    for (let attempt = 0; ; attempt += 1) {
      const name = attempt === 0 ? `report-${turn}.txt` : `report-${turn} (${attempt}).txt`;
      const body = new TextEncoder().encode(content);
      try {
        const { file } = await writer.client.files.upload({ vaultId, name, body, ifAbsent: true });
        written.set(file.id, { writer, content });
        return;
      } catch (error) {
        if (attempt >= WRITERS || !isTaken(error)) throw error;
      }
    }
  };
  const statementOf = async (fileId: string) => {
    const answer = await send(service.baseUrl, `/api/files/${fileId}`, { key: owner.apiKey });
    const shared = objectAt(objectAt(fieldsOf(answer), "file"), "shared");
    return new Uint8Array(Buffer.from(textOf(shared, "version"), "base64"));
  };
  return {
    "J16-distinct": async () => {
      await Promise.all(
        writers.map(async (writer) => {
          for (let turn = 0; turn < FILES; turn += 1) await write(writer, turn);
        }),
      );
      const { files } = await owner.client.files.list({ vaultId, limit: 1000 });
      assert.equal(files.length, WRITERS * FILES);
      assert.equal(new Set(files.map(({ name }) => name)).size, files.length);
      for (const { id } of files) {
        const got = await (await owner.client.files.download(id)).bytes();
        assert.equal(new TextDecoder().decode(got), written.get(id)?.content);
      }
    },
    "J16-tools": async () => {
      const expected = new Map<string, SharedPerson>();
      const upload = async (writer: SharedPerson): Promise<void> => {
        const folder = join(scratch, writer.address);
        await mkdir(folder);
        const paths = Array.from({ length: FILES }, (_, turn) => join(folder, `minutes-${turn}.txt`));
        for (const [turn, path] of paths.entries()) {
          const content = `minutes ${contentOf(writer, turn)}`;
          expected.set(content, writer);
          await writeFile(path, content);
        }
        await using tools = await service.tools(writer, folder);
        const begun = await tools.call("file_upload", { paths, vaultId, ifExists: "rename" });
        const { facts, wire } = await ended(tools, begun);
        assert.equal(facts["created"], FILES, wire);
      };
      await Promise.all(writers.map(upload));
      const listed = (await owner.client.files.list({ vaultId, limit: 1000 })).files;
      const files = listed.filter(({ name }) => name?.startsWith("minutes-"));
      assert.equal(files.length, WRITERS * FILES);
      assert.equal(new Set(files.map(({ name }) => name)).size, files.length);
      for (const { id } of files) {
        const content = new TextDecoder().decode(await (await owner.client.files.download(id)).bytes());
        const writer = expected.get(content);
        assert.ok(writer !== undefined && expected.delete(content), "content of nobody, or stored twice");
        written.set(id, { writer, content });
      }
      assert.equal(expected.size, 0);
    },
    "J16-uploader": async () => {
      assert.equal(written.size, 2 * WRITERS * FILES);
      for (const [fileId, { writer }] of written) {
        const { signer } = parseVersionStatement(await statementOf(fileId));
        assert.equal(`0x${Buffer.from(signer).toString("hex")}`, writer.address);
      }
    },
    "J16-recorded": async () => {
      const recorded: unknown[] = [];
      for await (const { actor, targets } of owner.client.audit.list({ action: "file.uploaded" }))
        for (const { id } of targets) if (written.has(id)) recorded.push([id, actor.chainAddress]);
      const expected = [...written].map(([fileId, { writer }]) => [fileId, writer.address]);
      assert.deepEqual(recorded.sort(), expected.sort());
    },
    "J16-signature": async () => {
      for (const [fileId, { writer }] of written) {
        const bytes = await statementOf(fileId);
        const publicKey = writer.signer.statements?.publicKey;
        assert.ok(publicKey !== undefined);
        // Signed together with its entry (file-format §8.1): fields, the entry's digest, signature.
        const [fields, entry, signature] = [bytes.subarray(0, -96), bytes.subarray(-96, -64), bytes.subarray(-64)];
        const title = Buffer.from("coffer/version/v1\0");
        const verify = (signed: Uint8Array): Promise<boolean> => {
          const digest = createHash("sha256").update(title).update(signed).digest();
          return verifyStatement("coffer/upload/v1", Buffer.concat([digest, entry]), publicKey, signature);
        };
        assert.equal(await verify(fields), true);
        const other = fields.slice();
        other[40] = (other[40] ?? 0) ^ 1;
        assert.equal(await verify(other), false);
      }
    },
  };
}

/** The outcome of a transfer that may go on when its call was answered, as an agent asks for it. */
async function ended(tools: ToolServer, begun: ToolAnswer): Promise<ToolAnswer> {
  let answer = begun;
  const { transferId } = begun.facts;
  while (answer.facts["totalBytes"] !== undefined) {
    await pause(1_000);
    answer = await tools.call("transfer_get", { transferId });
  }
  return answer;
}

function isTaken(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && ["precondition_failed", "name_exists"].includes(String(error.code))
  );
}
