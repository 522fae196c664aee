// Downloads of what is shown, named after the study.
import { byId, save } from "./dom.js";
import { printed, sheetWidth, unitsPerMm } from "./print.js";
import type { Results } from "./results.js";
import { notExportable, shownPicture, status } from "./shown.js";
import type { State } from "./state.js";

interface Shown { readonly state: State; scenario: string; results: Results | null }

const hasResults = ({ results }: Shown): boolean => results !== null && results.complete;

/// Shows the buttons that have something to download.
export function showDownloads(shown: Shown): void {
  const has: Record<string, boolean> = { csv: hasResults(shown), png: shownPicture() !== null, svg: shownPicture() !== null, json: shown.scenario !== "" };
  for (const button of byId("downloads").querySelectorAll<HTMLElement>("[data-download]")) button.hidden = has[button.dataset["download"]!] !== true;
  byId("downloads").hidden = !Object.values(has).includes(true);
}

function titleOf({ scenario, results, state }: Shown): string {
  let title: unknown = results?.study.title;
  try { title = (JSON.parse(scenario) as { title?: unknown } | null)?.title ?? title; } catch { /* the engine has said what is wrong with it */ }
  return typeof title === "string" && title.trim() !== "" ? title : state.file?.name.replace(/\.json$/, "") ?? "paceline";
}

/// Returns the title as a file's name: letters and digits of any script, and hyphens.
export function slugOf(title: string): string {
  const words = title.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");
  const letters = [...words.replace(/^-+|-+$/g, "")];
  const most = 60;
  const cut = letters.length <= most ? letters.join("") : letters.slice(0, most).join("").replace(/-[^-]*$/, "");
  return cut || "paceline";
}

/// Saves the scenario, the results or the picture of what is shown; or says why there is none.
export async function download(kind: string, shown: Shown): Promise<void> {
  const why = notExportable();
  if (why !== null) return status(why);
  const title = titleOf(shown);
  const slug = slugOf(title);
  if (kind === "json") return save(`${slug}.json`, new Blob([`${shown.scenario}\n`], { type: "application/json" }));
  if (kind === "csv") {
    if (!hasResults(shown)) return status("There are no results yet.");
    return save(`${slug}-results.csv`, new Blob([shown.results!.csv()], { type: "text/csv" }));
  }
  const picture = shownPicture();
  if (picture === null) return status("This view has no picture.");
  const svg = new Blob([printed(title, picture)], { type: "image/svg+xml" });
  const name = `${slug}-${shown.state.view}`;
  if (kind === "svg") return save(`${name}.svg`, svg);
  const png = await rastered(svg);
  if (png === null) return status("This picture is too large for a PNG; SVG has no such limit.");
  save(`${name}.png`, png);
}

const dotsPerInch = 300;
const mmPerInch = 25.4;

// Draws the SVG at 300 dots per inch. Returns null if the browser has no canvas so large.
async function rastered(svg: Blob): Promise<Blob | null> {
  const image = new Image();
  image.src = URL.createObjectURL(svg);
  try {
    await image.decode();
    const sheet = document.createElement("canvas");
    sheet.width = Math.round((sheetWidth / unitsPerMm / mmPerInch) * dotsPerInch);
    sheet.height = Math.round((sheet.width * image.naturalHeight) / image.naturalWidth);
    const c = sheet.getContext("2d");
    if (c === null) return null;
    c.fillStyle = "#ffffff"; // where the picture ends within a dot
    c.fillRect(0, 0, sheet.width, sheet.height);
    c.drawImage(image, 0, 0, sheet.width, sheet.height);
    const drawn = await new Promise<Blob | null>((done) => sheet.toBlob(done, "image/png"));
    return drawn === null ? null : withResolution(new Uint8Array(await drawn.arrayBuffer()));
  } finally {
    URL.revokeObjectURL(image.src);
  }
}

// Adds the chunk that says how many dots make a meter, so that other programs place the picture 180 mm wide.
function withResolution(png: Uint8Array): Blob {
  const chunk = new DataView(new ArrayBuffer(21));
  const dots = Math.round((dotsPerInch / mmPerInch) * 1000);
  chunk.setUint32(0, 9);
  [..."pHYs"].forEach((c, i) => chunk.setUint8(4 + i, c.charCodeAt(0)));
  chunk.setUint32(8, dots);
  chunk.setUint32(12, dots);
  chunk.setUint8(16, 1);
  chunk.setUint32(17, checksum(new Uint8Array(chunk.buffer, 4, 13)));
  const header = 33; // signature and IHDR
  return new Blob([png.slice(0, header), chunk.buffer, png.slice(header)], { type: "image/png" });
}

// The CRC-32 of PNG.
function checksum(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
