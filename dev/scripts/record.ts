// Records the first ten minutes with `coffer`: `npm run record`. It writes docs/recordings/first-ten-minutes.cast and the picture
// beside it. A recording that nothing has changed comes out the same, byte for byte; test/cli/recording.test.ts compares it.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { installPeers } from "./peers.ts";
import { toCast, toPicture } from "./recording/cast.ts";
import { play } from "./recording/play.ts";

const DIRECTORY = path.join(import.meta.dirname, "..", "..", "docs", "recordings");

await installPeers("cli");
const cast = toCast(await play());
const picture = toPicture(cast);
mkdirSync(DIRECTORY, { recursive: true });
writeFileSync(path.join(DIRECTORY, "first-ten-minutes.cast"), cast);
writeFileSync(path.join(DIRECTORY, "first-ten-minutes.svg"), picture);
console.error(`recorded: ${String(cast.length)} bytes of text, ${String(picture.length)} of picture`);
process.exit();
