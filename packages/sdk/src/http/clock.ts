/** The SDK's source of time and chance; a test passes its own. Milliseconds. */
export interface Clock {
  now(): number;
  /** Runs `action` once after `ms`; the returned function cancels it. */
  after(ms: number, action: () => void): () => void;
  /** Uniform in [0, 1). */
  random(): number;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, action) => {
    const timer = setTimeout(action, ms);
    return () => {
      clearTimeout(timer);
    };
  },
  random: () => Math.random(),
};
