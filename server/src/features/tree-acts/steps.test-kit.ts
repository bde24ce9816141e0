/** TEST ONLY: jobs that are cut off. */

/** Lets a job make one step: what a process that is killed after it has done. */
export function oneStep(): AbortSignal {
  let asked = 0;
  return Object.defineProperty(new AbortController().signal, "aborted", { get: () => (asked += 1) > 1 });
}
