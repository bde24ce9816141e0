/** The settings as a page for operators: docs/guides/settings.md. `npm run generate` writes it. */
import { SETTING_GROUPS } from "./setting-costs.ts";
import { type Variable, VARIABLES } from "./variables.ts";

const INTRODUCTION = `# Settings

Made by \`npm run generate\` from the server's own list, which \`coffer-server --help\` prints without what each costs. Settings are variables of the
environment, or lines \`NAME=value\` of a file that \`--env-file\`, systemd or Docker is given. They are read when the server starts, and count until it
ends. An unset or empty one has its default. A wrong one is named, and nothing starts (status 78). The ones to begin with are in
\`deploy/server.env.example\`.
`;

/** Throws for a setting that is in no group, or in two. */
export function renderSettingsPage(): string {
  const grouped = SETTING_GROUPS.flatMap(({ costs }) => Object.keys(costs));
  const twice = grouped.filter((key, at) => grouped.indexOf(key) !== at);
  const missing = Object.keys(VARIABLES).filter((key) => !grouped.includes(key));
  if (missing.length + twice.length > 0)
    throw new Error(`Each setting needs one group in setting-costs.ts: ${[...missing, ...twice].join(", ")}`);
  return [INTRODUCTION, ...SETTING_GROUPS.map(renderGroup)].join("\n");
}

function renderGroup({ title, costs }: (typeof SETTING_GROUPS)[number]): string {
  const rows = Object.entries(costs).map(([key, cost]) => {
    const variable: Variable = VARIABLES[key as keyof typeof VARIABLES];
    const value = `${variable.expects}; ${defaultsOf(variable)}`;
    return `| ${[`\`${variable.name}\``, value, variable.about, cost].join(" | ")} |`;
  });
  return `## ${title}\n\n| setting | value | what it is for | what it costs |\n| --- | --- | --- | --- |\n${rows.join("\n")}\n`;
}

function defaultsOf({ name, fallback, inDevelopment }: Variable): string {
  const shown = (value: string): string => (value === "" ? "none" : `\`${value}\`${inWholeUnits(name, value)}`);
  const own = `default: ${shown(fallback)}`;
  return inDevelopment === undefined ? own : `${own}, in development ${shown(inDevelopment)}`;
}

const UNITS = ["TiB", "GiB", "MiB", "KiB"] as const;

function inWholeUnits(name: string, value: string): string {
  if (!name.endsWith("_BYTES")) return "";
  const found = UNITS.map((unit, at) => ({ unit, count: Number(value) / 1024 ** (UNITS.length - at) })).find(
    ({ count }) => Number.isInteger(count) && count > 0,
  );
  return found === undefined ? "" : ` (${String(found.count)} ${found.unit})`;
}
