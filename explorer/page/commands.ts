// The command that prints what is shown: it writes the scenario beside the files that it names, and asks the program.

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function written(name: string, text: string): string {
  let end = "EOF";
  while (text.split("\n").includes(end)) end += "F";
  return `cat > ${quoted(name)} <<'${end}'\n${text}\n${end}\n`;
}

/// Returns the lines for a shell. `options` are those after the scenario's name, such as ["--point", "3"].
export function commandOf(command: "run" | "explain" | "solve" | "diagnose", scenario: string, files: Record<string, string>, options: string[] = []): string {
  const named = Object.entries(files).filter(([name]) => scenario.includes(JSON.stringify(name)));
  const words = options.map((word) => (/^[\w.=%+-]+$/.test(word) ? word : quoted(word)));
  return `${named.map(([name, text]) => written(name, text)).join("")}${written("scenario.json", scenario)}${["paceline", command, "scenario.json", ...words].join(" ")}\n`;
}
