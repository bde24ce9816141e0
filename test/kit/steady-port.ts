/** Ports for servers that are killed and started again. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below all that the kernel gives to whoever asks for any port, or connects (Linux: from 32768 on). */
const [FIRST, LAST] = [20_000, 32_000];
const TRIES = 50;

/**
 * A free port on which a server finds itself again after a kill: while it is down nobody else is given it. One that the kernel
 * chose would be anybody's then, and the tests beside this one ask for many. Drawn, so that runs beside each other do not choose the same.
 */
export async function findSteadyPort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(FIRST, LAST);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${String(FIRST)} to ${String(LAST)} was free`);
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
