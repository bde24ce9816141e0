import { build } from "esbuild";

/** As users run it: JavaScript. Node's type stripping alone takes some 40 MiB, which are not the SDK's. */
export async function bundle(program: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [program],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["coffer-source"],
    logLevel: "warning",
  });
}
