// Downloads of what is shown.
import { svgOf } from "./charts.js";
import { el, save } from "./dom.js";
import type { Results } from "./results.js";
import { notExportable, panel, shownCharts, status } from "./shown.js";

/// Saves the scenario, the results or the charts that are shown; or says why there is none.
export function download(kind: string, scenario: string, results: Results | null): void {
  const why = notExportable();
  if (why !== null) return status(why);
  if (kind === "json") return save("scenario.json", new Blob([`${scenario}\n`], { type: "application/json" }));
  if (kind === "csv") {
    if (results === null || !results.complete) return status("There are no results yet.");
    return save("results.csv", new Blob([results.csv()], { type: "text/csv" }));
  }
  const shown = shownCharts();
  if (shown.length === 0) return status("This view has no chart; the CSV and the scenario hold it.");
  if (kind === "svg") return save("paceline.svg", new Blob([svgOf(shown)], { type: "image/svg+xml" }));
  const canvases = [...panel().querySelectorAll("canvas")];
  const sheet = el("canvas", { width: String(Math.max(...canvases.map((c) => c.width))), height: String(canvases.reduce((sum, c) => sum + c.height + 40, 0)) });
  const c = sheet.getContext("2d")!;
  c.fillStyle = getComputedStyle(document.body).backgroundColor;
  c.fillRect(0, 0, sheet.width, sheet.height);
  let y = 0;
  canvases.forEach((one, i) => { c.fillStyle = getComputedStyle(document.body).color; c.font = "24px sans-serif"; c.fillText(shown[i]?.title ?? "", 10, y + 28); c.drawImage(one, 0, y + 40); y += one.height + 40; });
  sheet.toBlob((blob) => blob && save("paceline.png", blob));
}
