/** Adds up how far the files of one call are, for one report. */
import type { FileProgress, Task } from "./task.ts";

interface Counts {
  bytes: number;
  total: number;
  files: number;
  totalFiles: number;
}

/** Files and folders of one call. Each has a task of its own, whose reports are added to those of the others. */
export class TransferCount {
  readonly #task: Task;
  readonly #sum: Counts = { bytes: 0, total: 0, files: 0, totalFiles: 0 };

  constructor(task: Task) {
    this.#task = task;
  }

  /** A file or a folder; `size` and one file are expected of it until it reports. */
  add(path: string, size: number): CountedTask {
    const own: Counts = { bytes: 0, total: 0, files: 0, totalFiles: 0 };
    const set = (next: Counts, file: FileProgress | null): void => {
      for (const field of ["bytes", "total", "files", "totalFiles"] as const)
        this.#sum[field] += next[field] - own[field];
      Object.assign(own, next);
      const { bytes, total, files, totalFiles } = this.#sum;
      if (file !== null) this.#task.progress(bytes, total, { ...file, files, totalFiles });
    };
    set({ bytes: 0, total: size, files: 0, totalFiles: 1 }, null);
    return {
      ...this.#task,
      progress: (bytes, total, file) => {
        const { files, totalFiles } = file ?? { files: 0, totalFiles: 1 };
        set({ bytes, total, files, totalFiles }, file ?? { path, bytes, size: total, files, totalFiles });
      },
      end: () => {
        const { total, totalFiles } = own;
        set(
          { bytes: total, total, files: totalFiles, totalFiles },
          { path, bytes: total, size: total, files: 0, totalFiles },
        );
      },
    };
  }
}

export interface CountedTask extends Task {
  /** Everything of the part is done, or has failed. */
  end(): void;
}
