// Why nodes are slower than they should be: what `paceline diagnose` answers, as tables.
import { el, table } from "./dom.js";
import { short } from "./lines.js";
import { milliseconds } from "./step_view.js";

interface Tried { causes: { cause: string; name: string; value: string; what: string }[]; share: number }
interface Advice { what: string; costs: string; step_time_s: number; gain: number; memory_gb: number | null }
interface Unfit { name: string; why: string }

export interface Diagnosis {
  numbers: { text: string; measured: number; before: number }[];
  gradient_s: number | null;
  stated_gradient_s: number;
  answers: { name: string; share: number; either: Tried[]; advice: Advice[] | null }[];
  unfit: Unfit[];
  impossible: Unfit[];
  next: { what: string; measured: string; column: string; expected: number[] } | null;
  pairs: boolean;
  points: number;
}

const percent = (share: number): string => (share < 0.005 ? "< 1 %" : `${Math.round(share * 100)} %`);
const nameOf = (tried: Tried): string => tried.causes.map(({ name }) => name).join(" and ") || "nothing: it is as in the scenario";
const mostAdvice = 8;

function causes(found: Diagnosis): HTMLElement {
  const rows = found.answers.flatMap(({ share, either }) => either.map((tried, i) =>
    [i === 0 ? nameOf(tried) : `or ${nameOf(tried)}`, percent(i === 0 ? share : tried.share), tried.causes.map(({ value }) => value).filter((v) => v !== "").join("; ")]));
  return table([found.pairs ? "two causes together explain it" : "explains it", "plausible", "needs"], rows, "causes");
}

function telling(found: Diagnosis): Node[] {
  const { next } = found;
  if (next === null) return [];
  const shown = (value: number): string => (next.column === "samples_per_s" ? short(value) : milliseconds(value));
  const rows = found.answers.map(({ name, share }, i) => [name, share, next.expected[i] ?? 0] as const).filter(([, share, value]) => share >= 0.02 && value > 0)
    .map(([name, , value]) => [name, shown(value)]);
  return [el("h2", {}, "What would settle it"), el("p", {}, `Measure ${next.what}.`), table(["if it is", "it would give"], rows, "a measurement")];
}

function helping(found: Diagnosis): Node[] {
  return found.answers.flatMap(({ name, advice }) => {
    if (advice === null) return [];
    if (advice.length === 0) return [el("h2", {}, `If it is ${name}`), el("p", {}, "Nothing that was tried gains 5 %.")];
    return [el("h2", {}, `What helps if it is ${name}`), table(["change", "times as fast", "a step", "costs"], advice.slice(0, mostAdvice).map((one) =>
      [one.what, short(one.gain), milliseconds(one.step_time_s), one.costs + (one.memory_gb === null ? "" : `; ${short(one.memory_gb)} GB per device`)]), `what helps: ${name}`)];
  });
}

/// The causes, what would tell them apart, what helps, and what was ruled out.
export function diagnosed(found: Diagnosis): Node[] {
  const numbers = table(["measured", "the scenario has", "measured / scenario"], found.numbers.map(({ text, measured, before }) => [text, milliseconds(before), short(measured / before)]), "numbers");
  const set = found.gradient_s === null ? [] : [el("p", {}, `The step on one node sets the gradients of a step to ${milliseconds(found.gradient_s)}; the scenario has ${milliseconds(found.stated_gradient_s)}.`)];
  const first = found.answers.length === 0 ? el("p", {}, "None of the causes below explains it, alone or in a pair.") : causes(found);
  const ruledOut = [...found.unfit, ...found.impossible].map(({ name, why }) => [name, why]);
  return [el("h2", {}, "What explains it"), first, numbers, ...set, ...telling(found), ...helping(found),
    el("h2", {}, "What does not"), table(["cause", "why"], ruledOut, "ruled out")];
}
