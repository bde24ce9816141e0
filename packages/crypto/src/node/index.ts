export { readContentOf, writePieces } from "./file-content.ts";
export { nodePlatform } from "./platform.ts";
