/** A text as one word of a shell, which takes every character of it as it is. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
