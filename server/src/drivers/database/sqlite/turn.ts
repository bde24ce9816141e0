/** Hands out one turn at a time, in the order of asking. */
export class Turn {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** How many have a turn or wait for one. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Resolves when everybody who asked before has disposed of their turn. */
  async take(): Promise<Disposable> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#last = promise;
    this.#waiting += 1;
    await before;
    return {
      [Symbol.dispose]: () => {
        this.#waiting -= 1;
        resolve(undefined);
      },
    };
  }
}
