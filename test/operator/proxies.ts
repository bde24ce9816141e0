/** nginx and Caddy with the files of deploy/, in front of server processes of this machine. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SignedCertificate } from "../kit/certificates.ts";
import { endDaemon, freePort, isInstalled, startDaemon } from "../kit/engines.ts";

export interface TlsProxy extends AsyncDisposable {
  readonly port: number;
  /** Where it answers without TLS; null: nowhere, here. */
  readonly plainPort: number | null;
  /** All that it has written: of requests, and of what failed. */
  logs(): string;
}

export interface ProxyPlace {
  /** Empty, for its files. */
  readonly directory: string;
  readonly certificate: SignedCertificate;
  /** Of the server processes, in the place of the file's two. */
  readonly upstreams: readonly [number, number];
}

export interface ProxyKind {
  readonly name: string;
  /** Its file in deploy/. */
  readonly file: string;
  /** Why it cannot be started here; null: it can. */
  whyNot(): string | null;
  start(place: ProxyPlace): Promise<TlsProxy>;
}

/** Debian has it beside the programs of plain users. */
const NGINX = "/usr/sbin/nginx";

const missing = (name: string): string => `${name} is not installed: Debian has it as ${name}`;
const readDeployed = (name: string): string => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), "utf8");

/** What an operator changes, and the ports, which are the test's own. Each has to be there. */
function adapt(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((rest, [written, meant]) => {
    if (!rest.includes(written)) throw new Error(`the file has no ${written}`);
    return rest.replaceAll(written, meant);
  }, text);
}

function placeCertificate({ directory, certificate }: ProxyPlace): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  writeFileSync(cert, certificate.cert);
  writeFileSync(key, certificate.key, { mode: 0o600 });
  return { cert, key };
}

const upstreamsOf = ([first, second]: ProxyPlace["upstreams"]): Record<string, string> => ({
  "127.0.0.1:8787": `127.0.0.1:${String(first)}`,
  "127.0.0.1:8788": `127.0.0.1:${String(second)}`,
});

const programOfNginx = (): string => (existsSync(NGINX) ? NGINX : "nginx");

/** Where nginx keeps what does not fit into its memory. */
function temporaryIn(directory: string): string {
  const names = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return names.map((name) => `${name}_temp_path ${join(directory, name)};`).join(" ");
}

/** What nginx has against deploy/nginx.conf, the proxy of compose.yaml; its last line says that all is well. */
export function checkComposeProxy(directory: string): string {
  const text = adapt(readDeployed("nginx.conf"), {
    "server-1:8787": "127.0.0.1:1",
    "server-2:8787": "127.0.0.1:2",
    "/var/log/nginx/": `${directory}/`,
    "\nhttp {\n": `\npid ${join(directory, "pid")};\nhttp {\n${temporaryIn(directory)}\n`,
  });
  const file = join(directory, "nginx.conf");
  writeFileSync(file, text);
  const words = ["-t", "-e", join(directory, "start.log"), "-p", directory, "-c", file];
  return spawnSync(programOfNginx(), words, { encoding: "utf8" }).stderr;
}

export const nginx: ProxyKind = {
  name: "nginx",
  file: "nginx-tls.conf",
  whyNot: () => (existsSync(NGINX) || isInstalled("nginx") ? null : missing("nginx")),
  async start(place) {
    const { directory } = place;
    const [port, plainPort] = [await freePort(), await freePort()];
    const { cert, key } = placeCertificate(place);
    const file = join(directory, "coffer.conf");
    const text = adapt(readDeployed(nginx.file), {
      "/etc/letsencrypt/live/coffer.example.com/fullchain.pem": cert,
      "/etc/letsencrypt/live/coffer.example.com/privkey.pem": key,
      "coffer.example.com;": "localhost;",
      "listen [::]:80;": "",
      "listen [::]:443 ssl;": "",
      "listen 80;": `listen 127.0.0.1:${String(plainPort)};`,
      "listen 443 ssl;": `listen 127.0.0.1:${String(port)} ssl;`,
      "/var/log/nginx/": `${directory}/`,
      ...upstreamsOf(place.upstreams),
    });
    writeFileSync(file, text);
    const main = join(directory, "nginx.conf");
    // One process, so that nothing of it outlives this one.
    writeFileSync(
      main,
      `daemon off; master_process off; pid ${join(directory, "pid")}; events {} http { ${temporaryIn(directory)} include ${file}; }`,
    );
    const start = join(directory, "start.log");
    const daemon = startDaemon(programOfNginx(), ["-e", start, "-p", directory, "-c", main], start);
    const logs = ["start.log", "coffer-access.log", "coffer-error.log"].map((name) => join(directory, name));
    return {
      port,
      plainPort,
      logs: () => logs.map((log) => (existsSync(log) ? readFileSync(log, "utf8") : "")).join(""),
      [Symbol.asyncDispose]: () => endDaemon(daemon, "SIGTERM"),
    };
  },
};

const caddy: ProxyKind = {
  name: "caddy",
  file: "Caddyfile",
  whyNot: () => (isInstalled("caddy") ? null : missing("caddy")),
  async start(place) {
    const { directory } = place;
    const [port, plainPort] = [await freePort(), await freePort()];
    const { cert, key } = placeCertificate(place);
    const file = join(directory, "Caddyfile");
    const own = `admin off\n\tauto_https disable_redirects\n\thttp_port ${String(plainPort)}\n\thttps_port ${String(port)}`;
    const text = adapt(readDeployed(caddy.file), {
      "\ncoffer.example.com {\n": `\nlocalhost {\n\tbind 127.0.0.1\n\ttls ${cert} ${key}\n`,
      "\n{\n": `\n{\n\t${own}\n`,
      ...upstreamsOf(place.upstreams),
    });
    writeFileSync(file, text);
    const log = join(directory, "log");
    const home = ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"].map((name) => `${name}=${directory}`);
    const daemon = startDaemon("env", [...home, "caddy", "run", "--adapter", "caddyfile", "--config", file], log);
    return {
      port,
      plainPort: null,
      logs: () => readFileSync(log, "utf8"),
      [Symbol.asyncDispose]: () => endDaemon(daemon, "SIGTERM"),
    };
  },
};

export const PROXIES: readonly ProxyKind[] = [nginx, caddy];
