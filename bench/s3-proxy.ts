/** `s3-proxy.ts PORT BUCKET CERTIFICATE KEY SECRET`: the least that a proxy in front of a store can do. It hashes, streams both ways and stores nothing. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { request as plainRequest } from "node:http";
import { Agent, request as secureRequest } from "node:https";
import type { Readable } from "node:stream";
import { AwsV4Signer } from "aws4fetch";
import Fastify from "fastify";

const [port = "", bucket = "", certificate = "", accessKeyId = "", secretAccessKey = ""] = process.argv.slice(2);
const isSecure = bucket.startsWith("https:");
const request = isSecure ? secureRequest : plainRequest;
const connections = isSecure ? { agent: new Agent({ keepAlive: true, ca: readFileSync(certificate) }) } : {};
const app = Fastify({ bodyLimit: Number.MAX_SAFE_INTEGER });
app.removeAllContentTypeParsers();
app.addContentTypeParser("*", (_request, payload, done) => {
  done(null, payload);
});

async function sign(method: string, url: string): Promise<Record<string, string>> {
  const headers = { "x-amz-content-sha256": "UNSIGNED-PAYLOAD" };
  const signer = { method, url, headers, accessKeyId, secretAccessKey, service: "s3", region: "us-east-1" };
  return Object.fromEntries((await new AwsV4Signer(signer).sign()).headers);
}

app.get("/", () => ({ ready: true }));

app.put("/:name", async (incoming, reply) => {
  const url = `${bucket}/${(incoming.params as { name: string }).name}`;
  const signed = await sign("PUT", url);
  const length = String(incoming.headers["content-length"]);
  const digest = createHash("sha256");
  const status = await new Promise<number>((resolve, reject) => {
    const onward = request(
      url,
      { method: "PUT", headers: { ...signed, "content-length": length }, ...connections },
      (answer) => {
        answer.resume().on("end", () => resolve(answer.statusCode ?? 500));
      },
    );
    onward.on("error", reject);
    const body = incoming.body as Readable;
    body.on("data", (chunk: Buffer) => digest.update(chunk));
    body.pipe(onward);
  });
  return reply.code(status).send(digest.digest("hex"));
});

app.get("/:name", async (incoming, reply) => {
  const url = `${bucket}/${(incoming.params as { name: string }).name}`;
  const headers = await sign("GET", url);
  const digest = createHash("sha256");
  return new Promise((resolve, reject) => {
    request(url, { headers, ...connections }, (answer) => {
      answer.on("data", (chunk: Buffer) => digest.update(chunk));
      reply.code(answer.statusCode ?? 500).header("content-length", answer.headers["content-length"]);
      resolve(reply.send(answer));
    })
      .on("error", reject)
      .end();
  });
});

await app.listen({ host: "127.0.0.1", port: Number(port) });
