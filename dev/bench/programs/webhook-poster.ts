/** The peer: a bare loop of signed POSTs over as many connections as the server has, nothing looked up and nothing recorded. */
import { createHmac, randomUUID } from "node:crypto";
import { createRequire } from "node:module";

// The client that the server's driver is built on, so that the difference is what the server does besides.
const { Agent } = createRequire(new URL("../../../server/package.json", import.meta.url))("undici") as {
  Agent: new (options: object) => {
    request(options: object): Promise<{ statusCode: number; body: { dump(): Promise<void> } }>;
  };
};

const [, , target = "", connections = "64"] = process.argv;
const url = new URL(target);
const key = Buffer.alloc(32, 7);
const agent = new Agent({ connections: Number(connections) });
const payload = JSON.stringify({
  type: "folder.created",
  timestamp: "2026-11-20T12:00:00.000Z",
  data: {
    accountId: randomUUID(),
    sequence: 1,
    actor: { type: "api-key", id: randomUUID(), chainAddress: null },
    object: { type: "folder", id: randomUUID(), vaultId: randomUUID(), parentId: null },
  },
});

process.on("message", (count: number) => {
  const began = performance.now();
  const before = process.cpuUsage();
  let left = count;
  const post = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await send();
    }
  };
  void Promise.all(Array.from({ length: Number(connections) }, post)).then(() => {
    const { user, system } = process.cpuUsage(before);
    process.send?.({ seconds: (performance.now() - began) / 1000, processorSeconds: (user + system) / 1e6 });
  });
});
process.send?.("ready");

async function send(): Promise<void> {
  const id = `msg_${randomUUID().replaceAll("-", "")}`;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${payload}`).digest("base64");
  const headers = {
    "content-type": "application/json",
    "user-agent": "bench",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
  const { origin, pathname: path } = url;
  const { statusCode, body } = await agent.request({ origin, path, method: "POST", headers, body: payload });
  await body.dump();
  if (statusCode !== 204) throw new Error(`the receiver answered ${String(statusCode)}`);
}
