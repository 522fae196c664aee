import type { Json } from "./state.js";
/// The shipped scenarios by name; build.mjs makes this module.
export const presets: Record<string, Json>;
