// TypeScript that is compiled to CommonJS, and uses the packed SDK. Prints "done" if all of it works.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient, SdkError, type Client, type Progress } from "@coffer/sdk";
import { openSharedVaults, resolveSettings } from "@coffer/sdk/node";
import { verifyWebhook, type ReceivedEvent } from "@coffer/sdk/webhooks";

async function main(): Promise<void> {
  const settings = await resolveSettings();
  const { baseUrl, apiKey } = settings;
  const sharedVaults = await openSharedVaults(settings);
  if (baseUrl === null || apiKey === null || sharedVaults === null) throw new Error("set SERVICE_CONFIG_FILE");
  const client = createClient({ baseUrl, credentials: apiKey, sharedVaults });
  const receiver = await receiveWebhooks(client);

  const name = `project ${randomUUID()}`;
  const { id: vaultId } = await client.vaults.create({ name, type: "public" });
  const body = "words ".repeat(50_000);
  let moved = 0;
  const onProgress = ({ bytes }: Progress): void => {
    moved = bytes;
  };
  const { file } = await client.files.upload({ vaultId, name: "report.txt", body }, { onProgress });
  assert.equal(moved, body.length);
  assert.equal(await (await client.files.download(file.id)).text(), body);
  assert.deepEqual(
    (await client.files.list({ vaultId })).items.map((each) => each.name),
    ["report.txt"],
  );
  await assert.rejects(
    client.files.upload({ vaultId, name: "report.txt", body }),
    (error: unknown) => error instanceof SdkError && error.code === "name_exists",
  );

  const { id: shared } = await client.vaults.create({ name: `${name}, encrypted`, type: "shared" });
  const { file: secret } = await client.files.upload({ vaultId: shared, name: "secret.txt", body: "for members" });
  assert.equal(await (await client.files.download(secret.id)).text(), "for members");

  const event = await receiver.next((each) => each.type === "vault.created");
  assert.ok(event.timestamp);
  receiver.close();
  console.log("done");
}

/** A receiver on loopback that believes only what verifies. */
async function receiveWebhooks(client: Client) {
  const events: ReceivedEvent[] = [];
  const secrets: string[] = [];
  const server = createServer((request, response) => void receive(request, response));
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    events.push(await verifyWebhook({ body: Buffer.concat(chunks), headers: request.headers, secrets }));
    response.writeHead(204).end();
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
  const { secret } = await client.webhooks.create({ url, events: ["vault.created"] });
  secrets.push(secret);
  return {
    next: async (fits: (event: ReceivedEvent) => boolean) => {
      for (let waited = 0; waited < 30_000; waited += 50) {
        const event = events.find(fits);
        if (event !== undefined) return event;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error("no event came");
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

void main();
