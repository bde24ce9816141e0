import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { measured, medianRatio, type Benchmark } from "./outcome.ts";
import { curl, findProgram, missingTools, startProgram, writeSample, type Program } from "./machine.ts";
import { openScratch, startService } from "./service.ts";
import { uploadFile } from "./transfer.ts";

const ROUNDS = 7;
const MEBIBYTES = 256;

/** Throughput of a 256 MiB download against nginx with sendfile. */
export const download: Benchmark = async () => {
  const name = "download";
  const missing = missingTools("nginx", "curl");
  if (missing !== null) return { kind: "not measured", name, reason: missing };
  await using scratch = await openScratch();
  const sample = join(scratch.directory, "sample");
  writeSample(sample, MEBIBYTES);
  await using nginx = await startNginx(scratch.directory, sample);
  await using service = await startService(scratch.directory);
  const { key, url } = await uploadFile(service, sample, "download.bin");
  const ours: number[] = [];
  const peer: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    peer.push(await curl("download", 200, [`${nginx.baseUrl}/sample`]));
    ours.push(await curl("download", 200, ["-H", `authorization: Bearer ${key}`, url]));
  }
  return measured({
    name,
    about: `throughput of a ${String(MEBIBYTES)} MiB download over that of nginx`,
    value: medianRatio(ours, peer),
    unit: "times",
    limit: { at: "least", value: 0.7 },
    series: { "Coffer, MiB/s": ours, "nginx, MiB/s": peer },
    facts: { client: "curl, one connection per transfer" },
  });
};

/** One process in the foreground, so that it can be stopped by its id. */
async function startNginx(directory: string, sample: string): Promise<Program> {
  const root = join(directory, "nginx");
  mkdirSync(join(root, "files"), { recursive: true });
  copyFileSync(sample, join(root, "files", "sample"));
  const program = findProgram("nginx") ?? "nginx";
  return startProgram(program, (port) => {
    const config = join(root, "nginx.conf");
    writeFileSync(config, renderConfig(root, port));
    return ["-p", root, "-c", config, "-e", join(root, "error.log")];
  });
}

function renderConfig(root: string, port: number): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${root}/${kind};`,
  );
  return `daemon off; master_process off; pid ${root}/nginx.pid; worker_processes 1;
user root;
events { worker_connections 64; }
http {
  sendfile on; tcp_nopush on; access_log off; default_type application/octet-stream;
  ${temporary.join(" ")}
  server { listen 127.0.0.1:${String(port)}; root ${root}/files; }
}
`;
}
