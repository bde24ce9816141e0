/**
 * The store's mark: a file for each state of it, numbered, of which the one with the highest number counts. A number is given once, so
 * of two processes that make the next one a single one succeeds, without a lock that a killed process would leave behind.
 */
import { randomUUID } from "node:crypto";
import { errorCode, type FileSystem } from "./file-system.ts";
import type { Health } from "./health.ts";
import { type Layout, numberOfMark } from "./layout.ts";

/** How often the newest one may be replaced while it is read. */
const TURNS = 10;
/** A mark is short; what is longer was not written here. */
const LONGEST_BYTES = 4096;

interface MarkParts {
  readonly files: FileSystem;
  readonly layout: Layout;
  readonly health: Health;
}

interface Found {
  /** 0: there is none. */
  readonly number: number;
  readonly text: string | null;
}

export class MarkFile {
  readonly #parts: MarkParts;

  constructor(parts: MarkParts) {
    this.#parts = parts;
  }

  async read(): Promise<Found> {
    const { files, layout } = this.#parts;
    for (let turn = 1; ; turn += 1) {
      const number = Math.max(0, ...(await this.#numbers()));
      if (number === 0) return { number, text: null };
      try {
        return { number, text: await readText(files, layout.mark(number)) };
      } catch (error) {
        // It was replaced meanwhile, and removed.
        if (errorCode(error) !== "ENOENT" || turn === TURNS) throw error;
      }
    }
  }

  async replace(before: string | null, mark: string): Promise<boolean> {
    const { files, layout, health } = this.#parts;
    const found = await this.read();
    if (found.text !== before) return false;
    const number = found.number + 1;
    const temporary = layout.temporary(randomUUID());
    const file = await health.guard(files.create(temporary));
    try {
      await health.guard(file.write(Buffer.from(mark), 0));
      await health.flush(file.flush());
      await health.guard(files.link(temporary, layout.mark(number)));
    } catch (error) {
      if (errorCode(error) === "EEXIST") return false;
      throw error;
    } finally {
      await file.close();
      await files.remove(temporary);
    }
    await health.flush(files.flushDirectory(layout.root));
    const numbers = await this.#numbers();
    for (const older of numbers.filter((one) => one < number)) await files.remove(layout.mark(older));
    if (Math.max(...numbers) === number) return true;
    // Others were further on already, and had removed the one of this number.
    await files.remove(layout.mark(number));
    return false;
  }

  async #numbers(): Promise<number[]> {
    const { files, layout } = this.#parts;
    return (await files.list(layout.root)).map(numberOfMark).filter((number) => number !== null);
  }
}

async function readText(files: FileSystem, path: string): Promise<string> {
  const file = await files.open(path, "read");
  try {
    const bytes = Buffer.alloc(LONGEST_BYTES);
    return bytes.toString("utf8", 0, await file.read(bytes, 0));
  } finally {
    await file.close();
  }
}
