/** Language of a graph. A thread's state belongs to one of them: each has its own form of stored values. */
export type GraphLanguage = 'javascript' | 'python';

export const LANGUAGE_NAMES: Record<GraphLanguage, string> = { javascript: 'JavaScript', python: 'Python' };

export function languageOf(file: string): GraphLanguage {
  return file.endsWith('.py') ? 'python' : 'javascript';
}
