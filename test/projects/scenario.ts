/**
 * What the program of every kind of project does. It imports nothing but types and takes everything else from the project, so that it works in
 * every module format: the tests copy it into each project, as `scenario.mjs` without its types, or as it is where a compiler is tried.
 */
import type * as Sdk from "@coffer/sdk";
import type { Client, Progress, Secret, SharedVaults } from "@coffer/sdk";
import type * as Webhooks from "@coffer/sdk/webhooks";

/** A project's own imports and settings, and how it receives webhooks. */
export interface Project {
  readonly sdk: Pick<typeof Sdk, "createClient" | "SdkError">;
  readonly webhooks: Pick<typeof Webhooks, "verifyWebhook" | "WebhookVerificationError">;
  readonly settings: {
    readonly baseUrl: string | null;
    readonly apiKey: Secret | string | null;
  };
  readonly sharedVaults: SharedVaults | null;
  /** Starts a receiver on loopback. It answers each POST with the status that `receive` gives. */
  readonly listen: (receive: Receive) => Promise<Receiver>;
}

/** A request as the project's server has it. Resolves with the status of the answer. */
export type Receive = (request: Pick<Parameters<Verify>[0], "body" | "headers">) => Promise<number>;
type Verify = Project["webhooks"]["verifyWebhook"];

export interface Receiver {
  readonly url: string;
  readonly close: () => unknown;
}

/** Rejects at the first thing that does not work. */
export async function runScenario({ sdk, webhooks, settings, sharedVaults, listen }: Project): Promise<void> {
  const { baseUrl, apiKey } = settings;
  if (baseUrl === null || apiKey === null || sharedVaults === null) throw new Error("set SERVICE_CONFIG_FILE");
  const credentials = typeof apiKey === "string" ? { apiKey } : apiKey;
  const client = sdk.createClient({ baseUrl, credentials, sharedVaults });
  const inbox = await openInbox(client, webhooks, listen);
  try {
    const name = `project ${crypto.randomUUID()}`;
    const { id: vaultId } = await client.vaults.create({ name, type: "public" });
    await storeAndRead(client, sdk, vaultId, "words ".repeat(100_000));
    const { id: sharedId } = await client.vaults.create({ name: `${name}, encrypted`, type: "shared" });
    await storeAndRead(client, sdk, sharedId, "for members ".repeat(50_000));
    await inbox.next((event) => event.type === "vault.created" && event.data.object.id === sharedId);
    check("a forged message is refused", (await inbox.forge()) === 400);
  } finally {
    await inbox.close();
  }
}

async function storeAndRead(client: Client, sdk: Project["sdk"], vaultId: string, body: string): Promise<void> {
  const seen: Progress[] = [];
  const onProgress = (progress: Progress): void => {
    seen.push(progress);
  };
  const { file } = await client.files.upload({ vaultId, name: "report.txt", body }, { onProgress });
  const last = seen.at(-1);
  // In a shared vault it counts what is stored, which is a little longer.
  check("the last progress names the total", last?.bytes === last?.total && (last?.bytes ?? 0) >= body.length);
  check("what comes back is what went", (await (await client.files.download(file.id)).text()) === body);
  const { items } = await client.files.list({ vaultId });
  check("it is listed", items.length === 1 && items[0]?.name === "report.txt" && items[0].size === body.length);
  const failure: unknown = await client.files
    .upload({ vaultId, name: "report.txt", body })
    .catch((error: unknown) => error);
  check("a second one is refused", failure instanceof sdk.SdkError && failure.code === "name_exists");
}

/** What the project's receiver was sent, and believes. */
async function openInbox(client: Client, webhooks: Project["webhooks"], listen: Project["listen"]) {
  const events: Webhooks.ReceivedEvent[] = [];
  const secrets: string[] = [];
  const { url, close } = await listen(async ({ body, headers }) => {
    try {
      events.push(await webhooks.verifyWebhook({ body, headers, secrets }));
      return 204;
    } catch (error) {
      if (error instanceof webhooks.WebhookVerificationError) return 400;
      throw error;
    }
  });
  const { webhook, secret } = await client.webhooks.create({ url, events: ["vault.created"] });
  secrets.push(secret);
  return {
    next: async (fits: (event: Webhooks.ReceivedEvent) => boolean): Promise<void> => {
      for (let waited = 0; !events.some(fits); waited += 50) {
        if (waited > 30_000) throw new Error("no event came");
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    forge: async (): Promise<number> => {
      const headers = { "content-type": "application/json", "webhook-id": "1", "webhook-signature": "v1,AAAA" };
      const now = String(Math.floor(Date.now() / 1000));
      const forged = { method: "POST", headers: { ...headers, "webhook-timestamp": now }, body: "{}" };
      return (await fetch(url, forged)).status;
    },
    close: async (): Promise<void> => {
      await client.webhooks.delete(webhook.id);
      await close();
    },
  };
}

function check(what: string, holds: boolean): void {
  if (!holds) throw new Error(`not so: ${what}`);
}
