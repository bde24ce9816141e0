/**
 * Taps this process, or this thread of it: what it encrypts, what it sends, what it starts, and where it keeps its data. It patches
 * what is built into Node and nothing else, so that no code of the product, and no test, can go past it.
 */
import { syncBuiltinESMExports } from "node:module";
import { useQuickCurve } from "../quick-curve.ts";
import { tapChildren } from "./tap-children.ts";
import { tapDirectories } from "./tap-directories.ts";
import { tapKeysAndPlaintexts } from "./tap-plaintexts.ts";
import { tapWire } from "./tap-wire.ts";
import { openUnit } from "./unit.ts";

useQuickCurve();
const unit = openUnit();
tapKeysAndPlaintexts(unit);
tapWire(unit);
tapChildren(unit);
tapDirectories(unit);
syncBuiltinESMExports();
