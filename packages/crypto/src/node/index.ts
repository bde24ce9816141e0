export { readContentOf } from "./file-content.ts";
export { nodePlatform } from "./platform.ts";
