/**
 * Connections on which nobody has shown a credential yet. Each takes a file descriptor, and so do the files of everybody else: strangers have a
 * share of them, and whoever comes then takes the place of the one who has been there longest (CWE-400, CWE-770). Requests show their credential
 * at once, so a caller who has one leaves the share before others can push it out.
 */
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { Socket } from "node:net";

/** The rest is for callers with a credential, and for what the server itself opens. */
const SHARE = 0.5;

export class Strangers {
  readonly #most: number;
  /** In the order in which they came. */
  readonly #open = new Set<Socket>();

  /** @param descriptors how many the process may have open. */
  constructor(descriptors: number) {
    this.#most = Math.max(1, Math.floor(descriptors * SHARE));
  }

  follow(server: Server): void {
    server.on("connection", (socket: Socket) => {
      this.#open.add(socket);
      socket.once("close", () => this.#open.delete(socket));
      if (this.#open.size > this.#most) this.#cutOldest();
    });
  }

  /** A request on it had a credential that is good. */
  admit(socket: Socket): void {
    this.#open.delete(socket);
  }

  #cutOldest(): void {
    const [oldest] = this.#open;
    if (oldest === undefined) return;
    this.#open.delete(oldest);
    oldest.destroy();
  }
}

/** The soft limit of this process: proc(5), /proc/PID/limits. Infinity where it is unknown or there is none. */
export function readDescriptorLimit(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}
