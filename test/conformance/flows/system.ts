import { api } from "@coffer/contract";
import type { Flow } from "../subject.ts";

export const systemFlow: Flow = async ({ owner }) => {
  owner.step("health, readiness, contract");
  await owner.call(api.system.health, {}, { key: null });
  await owner.call(api.system.ready, {}, { key: null });
  const document = (await owner.call(api.system.openapi, {}, { key: null })).value();
  owner.check(api.system.openapi, String(document.openapi).startsWith("3.1"), "not OpenAPI 3.1");

  owner.step("the network file, if the service names one");
  const network = await owner.call(api.system.network, {}, { key: null, expect: "any" });
  owner.check(api.system.network, [200, 404].includes(network.status), `expected 200 or 404, got ${network.status}`);
  if (network.status === 200)
    owner.check(
      api.system.network,
      network.headers.get("content-type") === "application/json" && isJsonObject(network.body),
      "not a JSON object",
    );

  owner.step("metrics, from where they may be seen");
  const metrics = await owner.call(api.system.metrics, {}, { key: null, expect: "any" });
  owner.check(
    api.system.metrics,
    [200, 404].includes(metrics.status),
    `expected 200 or 404, got ${String(metrics.status)}`,
  );
  if (metrics.status === 200) {
    owner.check(api.system.metrics, /^text\/plain/.test(metrics.headers.get("content-type") ?? ""), "not text/plain");
    owner.check(
      api.system.metrics,
      new TextDecoder().decode(metrics.body).includes("# TYPE "),
      "no Prometheus metric in it",
    );
  }
};

function isJsonObject(bytes: Uint8Array): boolean {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}
