/** Columns as wide as their widest cell; nothing but the header when there are no rows. */
export function table(header: string[], rows: (string | null)[][]): string {
  const lines = [header, ...rows.map((row) => row.map((cell) => cell ?? '-'))];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Output of a command: an object as JSON for programs, or text for people. */
export function print(result: unknown, text: string, asJson: boolean | undefined): void {
  process.stdout.write(`${asJson ? JSON.stringify(result, null, 2) : text}\n`);
}
