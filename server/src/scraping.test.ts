/** The scrape configurations of deploy/: what they ask of whom, and with which token. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Deployment } from "kubernetes-models/apps/v1";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { makeDirectory } from "../../test/kit/directory.ts";
import { isInstalled } from "../../test/kit/engines.ts";

const read = (name: string): string => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), "utf8");

describe("what Prometheus is told in deploy/ [issue 51]", () => {
  /** It looks whether files are there, so those of a directory stand for the ones of the operator's machine. */
  function check(
    name: string,
    files: Readonly<Record<string, string>>,
    without: Readonly<Record<string, string>> = {},
  ) {
    const directory = makeDirectory();
    let told = read(name);
    for (const [written, instead] of Object.entries(without)) told = told.replace(written, instead);
    for (const [written, content] of Object.entries(files)) {
      const file = path.join(directory, path.basename(written));
      writeFileSync(file, content);
      expect(told).toContain(written);
      told = told.replaceAll(written, file);
    }
    const file = path.join(directory, path.basename(name));
    writeFileSync(file, told);
    return spawnSync("promtool", ["check", "config", file], { encoding: "utf8" });
  }
  const TOKEN = "/etc/prometheus/coffer-metrics-token";
  const SECRET = "/etc/prometheus/secrets/coffer-server/SERVICE_METRICS_TOKEN";
  const RULES = "/etc/prometheus/coffer-alerts.yaml";

  it("gives the token of a file, and asks each of the two processes", () => {
    interface Job {
      readonly authorization: object;
      readonly static_configs?: readonly { readonly targets: readonly string[] }[];
    }
    const jobsOf = (name: string) => (parse(read(name)) as { readonly scrape_configs: readonly Job[] }).scrape_configs;
    const [job] = jobsOf("prometheus.yml");
    expect(job?.authorization).toEqual({ credentials_file: TOKEN });
    const targets = ["127.0.0.1:8787", "127.0.0.1:8788"];
    expect(job?.static_configs).toEqual([{ targets }]);
    for (const proxy of ["nginx-tls.conf", "Caddyfile"])
      expect([...new Set(read(proxy).match(/127\.0\.0\.1:\d+/g))]).toEqual(targets);
    expect(jobsOf("prometheus-kubernetes.yml")[0]?.authorization).toEqual({ credentials_file: SECRET });
  });

  it("asks the pods of kubernetes.yaml, at the port that it names", () => {
    const { spec } = parseAllDocuments(read("kubernetes.yaml"))[0]?.toJS() as Deployment;
    const { metadata, spec: pod } = spec?.template ?? {};
    const kept = `${metadata?.labels?.["app"] ?? ""};${pod?.containers[0]?.ports?.[0]?.name ?? ""}`;
    expect(read("prometheus-kubernetes.yml")).toContain(`regex: ${kept}\n`);
    expect(kept).toBe("coffer-server;http");
  });

  it("satisfies promtool", (context) => {
    if (!isInstalled("promtool")) context.skip("promtool is not installed: Debian has it in prometheus");
    const filled = { [TOKEN]: "a-token-of-metrics", [RULES]: read("alerts.yaml") };
    expect(check("prometheus.yml", filled)).toMatchObject({ status: 0 });
    // Debian leaves out what finds pods.
    const pods = { "kubernetes_sd_configs:\n      - role: pod\n": "static_configs: []\n" };
    expect(check("prometheus-kubernetes.yml", { [SECRET]: "a-token" }, pods)).toMatchObject({ status: 0 });
    expect(check("prometheus.yml", { [RULES]: read("alerts.yaml") }).stderr).toContain(TOKEN);
  });
});
