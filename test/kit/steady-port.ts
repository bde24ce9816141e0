/** Ports for servers that are killed and started again. */
import { once } from "node:events";
import { createServer } from "node:net";

/** Below all that the kernel gives to whoever asks for any port, or connects (Linux: from 32768 on). */
const FIRST = 20_000;
/** To each test process at one time its own. */
const EACH = 500;

/**
 * A free port on which a server finds itself again after a kill: while it is down nobody else is given it. One that the kernel
 * chose would be anybody's then, and the tests beside this one ask for many.
 */
export async function findSteadyPort(): Promise<number> {
  const first = FIRST + EACH * Number(process.env["VITEST_POOL_ID"] ?? process.pid % 20);
  for (let port = first; port < first + EACH; port += 1) if (await isFree(port)) return port;
  throw new Error(`no port from ${String(first)} on is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
