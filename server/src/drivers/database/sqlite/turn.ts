/** Hands out one turn at a time, in the order of asking. */
export class Turn {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves when everybody who asked before has disposed of their turn. */
  async take(): Promise<Disposable> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#last = promise;
    await before;
    return { [Symbol.dispose]: () => resolve(undefined) };
  }
}
