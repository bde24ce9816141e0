import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { expect, it } from "vitest";
import { openLocalnet } from "./localnet.ts";

it("answers pages of this machine, and none of another site, nor by a name that points here", async () => {
  await using localnet = await openLocalnet();
  const { url } = await localnet.listen();
  const preflight = await fetch(`${url}/sui.rpc.v2.LedgerService/GetServiceInfo`, {
    method: "OPTIONS",
    headers: { origin: "http://localhost:5173", "access-control-request-headers": "content-type,x-grpc-web" },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
  expect(preflight.headers.get("access-control-allow-headers")).toBe("content-type,x-grpc-web");
  const [rebound] = (await once(get(url, { headers: { host: "attacker.example" } }), "response")) as [IncomingMessage];
  rebound.resume();
  expect(rebound.statusCode).toBe(403);
  const recipient = new Ed25519Keypair().toSuiAddress();
  const fund = (origin: string) =>
    fetch(`${url}/v2/gas`, {
      method: "POST",
      headers: { origin, "content-type": "text/plain" },
      body: JSON.stringify({ FixedAmountRequest: { recipient } }),
    });
  for (const other of [
    "https://attacker.example",
    "null",
    "http://localhost.attacker.example",
    "http://127.0.0.1.nip.io",
  ])
    expect((await fund(other)).status).toBe(403);
  for (const own of ["http://localhost:5173", "https://127.0.0.1", "http://[::1]:8080"])
    expect((await fund(own)).status).toBe(200);
});
