/** Definitions that other blocks refer to, and HTML that continues after an empty line: such a text is one block. */
const IS_CONNECTED = /^ {0,3}\[(?:\\[^]|[^[\]\\])+\]:|<(?:!--|!\[CDATA|\?|pre|script|style|textarea)/im;
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
/** Lines that may continue the block before an empty line: of a list, or of what is in one. */
const MAY_CONTINUE = /^(?:\s|[-+*] |[-+*]$|\d{1,9}[.)])/;

/**
 * Splits a Markdown text into parts that can be rendered one by one with the same result. While a text grows, only its
 * last part changes.
 */
export function blocksOf(text: string): string[] {
  if (IS_CONNECTED.test(text)) return [text];
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence: string | undefined;
  let isAfterEmpty = false;
  for (const line of text.split('\n')) {
    const isEmpty = line.trim() === '';
    if (isAfterEmpty && !isEmpty && fence === undefined && !MAY_CONTINUE.test(line)) {
      blocks.push(lines.join('\n'));
      lines = [];
    }
    const [, marks, after] = FENCE.exec(line) ?? [];
    if (fence === undefined) {
      if (marks && !(marks.startsWith('`') && after.includes('`'))) fence = marks;
    } else if (marks?.startsWith(fence) && after.trim() === '') {
      fence = undefined;
    }
    lines.push(line);
    isAfterEmpty = isEmpty;
  }
  blocks.push(lines.join('\n'));
  return blocks;
}
