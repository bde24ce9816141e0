/** The settings that an operator fills in, as a file: deploy/server.env.example. `npm run generate` writes it. */
import { VARIABLES } from "./variables.ts";

const INTRODUCTION = `# Copy this file to server.env (mode 0640, with the group of the server) and fill it in. systemd, Docker, Compose and coffer-server --env-file
# read it alike: one NAME=value a line, without quotes, and comments on lines of their own. What is empty has its default.
# docs/guides/settings.md has all settings, with what each costs, and coffer-server --help lists them.
`;

interface Entry {
  readonly setting: keyof typeof VARIABLES;
  readonly value?: string;
  readonly hint?: string;
}

const ENTRIES: readonly Entry[] = [
  { setting: "publicUrl", value: "https://coffer.example.com" },
  { setting: "trustedProxies", value: "127.0.0.1", hint: "Of a proxy on this machine; others by their own addresses." },
  { setting: "masterKey", hint: "Made by: openssl rand -hex 32" },
  { setting: "jwtKeys", hint: "Made by: echo one:$(openssl rand -base64 48)" },
  { setting: "metricsToken", hint: "Made by: openssl rand -hex 24" },
  {
    setting: "dataDirectory",
    value: "/var/lib/coffer-server",
    hint: "As the unit of systemd has it; in a container, /data.",
  },
  { setting: "databaseUrl" },
  { setting: "blobsUrl" },
  { setting: "blobsRegion" },
  { setting: "blobsAccessKeyId" },
  { setting: "blobsSecretAccessKey" },
  { setting: "blobRedirect" },
  { setting: "smtpUrl" },
  { setting: "mailFrom" },
  { setting: "chainFile" },
];

export function renderEnvExample(): string {
  const entries = ENTRIES.map(({ setting, value = "", hint }) => {
    const { name, about, expects, fallback } = VARIABLES[setting];
    const more = hint ?? `Value: ${expects}.${fallback === "" ? "" : ` Default: ${fallback}.`}`;
    return `# ${about}\n# ${more}\n${name}=${value}\n`;
  });
  return [INTRODUCTION, ...entries].join("\n");
}
