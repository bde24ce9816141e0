/** The tools that act, in a shared vault. */
import { describeActs } from "./acting-cases.ts";

describeActs("shared");
