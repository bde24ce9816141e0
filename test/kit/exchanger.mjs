/** In a thread: exchanges a folder for a link that leads out, again and again, until it is told to end. */
import { existsSync, renameSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";

const { place, away, outside, ended } = workerData;
const end = new Int32Array(ended);
let turns = 0;
const pause = (length) => {
  for (let at = 0; at < length; at += 1) Atomics.load(end, 0);
};
while (Atomics.load(end, 0) === 0) {
  // Rests of different length, so that every moment of a call meets the exchange.
  const rest = 2 ** (turns % 19);
  renameSync(place, away);
  try {
    symlinkSync(outside, place);
    pause(rest);
    unlinkSync(place);
  } catch (error) {
    // The call made the folder anew, which is its right.
    if (error.code !== "EEXIST") throw error;
  }
  while (existsSync(away)) {
    try {
      renameSync(away, place);
    } catch {
      // The call may be writing into the folder that it made: then it is tried again.
      rmSync(place, { recursive: true, force: true, maxRetries: 20, retryDelay: 1 });
    }
  }
  pause(rest);
  turns += 1;
}
parentPort.postMessage(turns);
