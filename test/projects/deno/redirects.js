// Prints "done" if no redirect is followed.
import * as sdk from "@coffer/sdk";
import { refuseRedirects } from "./refusals.mjs";

await refuseRedirects(sdk, process.env.REDIRECTING_URL);
console.log("done");
