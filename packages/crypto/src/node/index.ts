export { nodePlatform } from "./platform.ts";
