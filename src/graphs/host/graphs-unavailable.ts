import { LANGUAGE_NAMES } from '../../config/graph-language';
import type { GraphRuntime } from './graph-runtime';

/** The graphs of a language can't be served: their process ends by itself while it loads, or can't be started. */
export class GraphsUnavailable extends Error {
  constructor(why: string, { language, advice }: GraphRuntime) {
    super([`Graphs in ${LANGUAGE_NAMES[language]} are not served: ${why}`, ...(advice ? [advice] : [])].join('. '));
    this.name = 'GraphsUnavailable';
  }
}
