/** Signing secrets of webhooks, and what deliveries carry, searched for in all that a production server leaves behind. */
import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { fieldsAt, textIn, type Fields } from "../journeys/kit/answers.ts";
import { useProductionService } from "../journeys/kit/service.ts";
import { openWebhooks } from "../journeys/kit/webhooks.ts";
import { recordedSecrets, recordSecret } from "../kit/secret-recorder.ts";
import { readPlaces, requireNoSecrets } from "../kit/secret-scan.ts";

/** The proxy's password is the operator's secret; nobody listens at that proxy, so all deliveries fail there. */
const PROXY_PASSWORD = randomBytes(18).toString("base64url");
/** Addresses may hold what lets in whoever knows them: they are their owner's to see, and no log's. */
const TOKEN_IN_ADDRESS = randomBytes(18).toString("base64url");
const service = useProductionService({
  SERVICE_LOG_LEVEL: "debug",
  SERVICE_WEBHOOK_PROXY: `http://egress:${PROXY_PASSWORD}@127.0.0.1:9/`,
});

/** Every flow in which a signing secret is made, used, replaced or refused. */
async function everyFlow(): Promise<Fields> {
  const { server, owner } = service();
  const webhooks = openWebhooks(server.baseUrl, owner.apiKey);
  const made = await webhooks.create(`https://93.184.215.14/hook/${TOKEN_IN_ADDRESS}`, ["*"], {
    description: "of the scan",
  });
  for (let times = 0; times < 2; times += 1) {
    await webhooks.test(made.id);
    fieldsAt(await webhooks.ask("POST", `/${made.id}/rotate-secret`), 200);
  }
  await service().makeFolder("an event");
  await webhooks.waitForDelivery(made.id, "folder.created", ({ attempts }) => Number(attempts) > 0);
  const password = randomBytes(12).toString("hex");
  recordSecret("password in an address", password);
  const url = `https://user:${password}@receiver.example/`;
  expect((await webhooks.ask("POST", "/", { url, events: ["*"] })).status).toBe(400);
  expect((await webhooks.ask("PATCH", `/${made.id}`, { url })).status).toBe(400);
  return webhooks.test(made.id);
}

it("no signing secret stands in the database, its log or the log, nor a password of an address or a proxy [D1-webhook-secrets D6-payload]", async () => {
  recordSecret("the proxy's password", PROXY_PASSWORD);
  const last = await everyFlow();
  expect([textIn(last, "status"), textIn(last, "lastError")]).toEqual(["failed", "proxy"]);
  const kinds = [...recordedSecrets()].filter(({ text }) => text.startsWith("whsec_"));
  expect(kinds.length).toBe(3);
  const { dataDirectory, server } = service();
  const running = await readPlaces(dataDirectory, () => true);
  expect(running.map(({ name }) => name)).toContain("coffer.sqlite-wal");
  requireNoSecrets(
    recordedSecrets(),
    running.filter(({ name }) => !name.startsWith("outbox/")),
  );
  expect(server.printed()).toContain('"endpoint":"webhooks.rotateSecret"');
  requireNoSecrets(recordedSecrets(), [{ name: "log", bytes: Buffer.from(server.printed()) }]);
  expect(server.printed()).not.toContain(TOKEN_IN_ADDRESS);
  const audit = JSON.stringify(fieldsAt(await service().ask("GET", "/api/audit-log"), 200));
  expect(audit).toContain('"webhook.created"');
  expect(audit).not.toContain(TOKEN_IN_ADDRESS);
});
