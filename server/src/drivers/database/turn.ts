/** Hands out one turn at a time, in the order of asking. */
export class Turn {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** How many have a turn or wait for one. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Resolves when everybody who asked before has disposed of their turn. null: they took longer than the patience (milliseconds), and whoever
   * asked is not in line any more.
   */
  acquire(): Promise<Disposable>;
  acquire(patience: number): Promise<Disposable | null>;
  async acquire(patience?: number): Promise<Disposable | null> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#last = promise;
    this.#waiting += 1;
    const release = (): void => {
      this.#waiting -= 1;
      resolve(undefined);
    };
    if (patience === undefined || this.#waiting === 1 || (await isOver(before, patience))) {
      await before;
      return { [Symbol.dispose]: release };
    }
    // Those behind still wait for those before.
    void before.then(release);
    return null;
  }
}

/** Whether it is, within so many milliseconds. */
function isOver(promise: Promise<unknown>, patience: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, patience, false);
    void promise.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
