/** A web site on loopback: one page with the bundle of a program, under a policy that lets nothing else run and names whom it may ask. */
import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import { listenOnLoopback } from "../kit/loopback.ts";

export interface Site extends AsyncDisposable {
  /** Origins that its policy lets the page ask (`connect-src`); none from the start. */
  mayAsk: readonly string[];
  /** `http://localhost:<port>`: another site than `127.0.0.1`, and a secure context as that is. */
  readonly origin: string;
  /** Built from the program and what it imports, none of it of Node. */
  readonly modules: readonly string[];
}

const TYPES = { js: "text/javascript; charset=utf-8", html: "text/html; charset=utf-8" };
const PAGE = `<!doctype html><meta charset="utf-8"><title>test</title><script type="module" src="/program.js"></script>`;

/**
 * Serves `pages/<program>.ts`.
 * @throws Error when anything that the program reaches imports a module of Node, as it does where a root entry does so.
 */
export async function openSite(program: string): Promise<Site> {
  const { files, modules } = await bundle(program);
  const server = await listenOnLoopback((request, response) => {
    const path = new URL(request.url ?? "/", "http://site").pathname;
    const content = path === "/" ? PAGE : files.get(path);
    response.setHeader("Content-Security-Policy", policyOf(site.mayAsk));
    response.setHeader("Content-Type", path === "/" ? TYPES.html : TYPES.js);
    response.writeHead(content === undefined ? 404 : 200).end(content);
  });
  const origin = server.baseUrl.replace("127.0.0.1", "localhost");
  const site: Site = { origin, modules, mayAsk: [], [Symbol.asyncDispose]: server[Symbol.asyncDispose] };
  return site;
}

/** No 'unsafe-eval', no 'wasm-unsafe-eval', no inline code: what a careful site sends. */
function policyOf(mayAsk: readonly string[]): string {
  const connect = mayAsk.length === 0 ? "'none'" : mayAsk.join(" ");
  return `default-src 'none'; script-src 'self'; worker-src 'self'; connect-src ${connect}`;
}

async function bundle(program: string): Promise<{ files: Map<string, Uint8Array>; modules: readonly string[] }> {
  const { metafile, outputFiles } = await build({
    entryPoints: { program: fileURLToPath(new URL(`pages/${program}.ts`, import.meta.url)) },
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2024",
    conditions: ["coffer-source"],
    splitting: true,
    metafile: true,
    write: false,
    outdir: "/site",
    logLevel: "silent",
  });
  const files = new Map(outputFiles.map(({ path, contents }) => [path.slice("/site".length), contents]));
  return { files, modules: Object.keys(metafile.inputs) };
}
