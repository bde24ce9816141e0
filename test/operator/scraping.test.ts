/** A real Prometheus with the files of deploy/: it gets the metrics with the token of its file, and evaluates the alerts. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startServerProcess } from "../crash/server-process.ts";
import { productionSecrets } from "../journeys/kit/production.ts";
import { makeDirectory } from "../kit/directory.ts";
import { endDaemon, freePort, isInstalled, startDaemon } from "../kit/engines.ts";
import { listenOnLoopback } from "../kit/loopback.ts";
import { eventually } from "./asking.ts";

const TOKEN = "token-of-the-metrics-0123456789";
const read = (name: string): string => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), "utf8");

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}
interface Rule {
  readonly name: string;
  readonly health: string;
}

it("Prometheus scrapes both processes with the token, and no alert is broken [issue 51]", async (context) => {
  if (!isInstalled("prometheus")) context.skip("prometheus is not installed: Debian has it as prometheus");
  const environment = { ...productionSecrets(), SERVICE_ENV: "production", SERVICE_METRICS_TOKEN: TOKEN };
  await using server = await startServerProcess({ directory: makeDirectory(), environment });
  // Whoever asks from this machine itself needs no token: this one asks for somebody elsewhere.
  const elsewhere = () =>
    listenOnLoopback(async ({ headers, url }, response) => {
      const authorization = headers.authorization ?? "";
      const forwarded = { authorization, "x-forwarded-for": "203.0.113.7" };
      const answer = await fetch(new URL(url ?? "/", server.baseUrl), { headers: forwarded });
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
      response.end(await answer.text());
    });
  await using first = await elsewhere();
  await using second = await elsewhere();
  expect((await fetch(`${first.baseUrl}/metrics`)).status).toBe(404);

  const directory = makeDirectory();
  const write = (name: string, text: string): string => {
    const file = join(directory, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const [rules, token] = [write("alerts.yaml", read("alerts.yaml")), write("token", TOKEN)];
  const adapted = read("prometheus.yml")
    .replace("scrape_interval: 15s", "scrape_interval: 1s")
    .replace("/etc/prometheus/coffer-alerts.yaml", rules)
    .replace("/etc/prometheus/coffer-metrics-token", token)
    .replace("127.0.0.1:8787", new URL(first.baseUrl).host)
    .replace("127.0.0.1:8788", new URL(second.baseUrl).host);
  const port = await freePort();
  const words = [`--config.file=${write("prometheus.yml", adapted)}`, `--storage.tsdb.path=${join(directory, "data")}`];
  const log = join(directory, "log");
  const daemon = startDaemon("prometheus", [...words, `--web.listen-address=127.0.0.1:${String(port)}`], log);
  try {
    const ask = async <Data>(path: string): Promise<Data | null> => {
      const answer = await fetch(`http://127.0.0.1:${String(port)}/api/v1/${path}`).catch(() => null);
      return answer?.ok === true ? ((await answer.json()) as { readonly data: Data }).data : null;
    };
    const query = async (text: string): Promise<readonly Series[]> =>
      (await ask<{ readonly result: readonly Series[] }>(`query?query=${encodeURIComponent(text)}`))?.result ?? [];
    await eventually(async () => (await query('up{job="coffer"} == 1')).length === 2);
    expect((await query('coffer_build_info{job="coffer"}')).map(({ value }) => value[1])).toEqual(["1", "1"]);
    expect((await query("coffer_mail_delivered == 0")).length).toBe(2);
    const rulesOf = async (): Promise<readonly Rule[]> =>
      (await ask<{ readonly groups: readonly { readonly rules: readonly Rule[] }[] }>("rules"))?.groups[0]?.rules ?? [];
    const written = read("alerts.yaml").match(/- alert: \w+/g)?.length;
    expect(await rulesOf()).toHaveLength(written ?? 0);
    expect((await rulesOf()).filter(({ health }) => health === "err")).toEqual([]);
  } finally {
    await endDaemon(daemon, "SIGTERM");
  }
});
