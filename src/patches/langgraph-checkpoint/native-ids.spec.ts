import { expectLibrary } from '../../../test/support/library-guard';
import { printedWith, WAYS_TO_LOAD } from '../../../test/support/patched-process';

const NAMESPACE = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
/** Ids of version 5 whose variant has each of its four digits, and names beyond ASCII. */
const NAMES = [
  'www.example.com',
  '',
  '["",1,"node"]',
  'näme €',
  '😀',
  ...Array.from({ length: 40 }, (_, at) => `task ${at}`),
];

describe('the ids of tasks', () => {
  it.each(WAYS_TO_LOAD)('are computed by Node in %s, with the results of the library', (_, load) => {
    const script = `
      const { v5 } = require('@langchain/core/utils/uuid');
      const bytes = Buffer.from(${JSON.stringify(NAMESPACE.replaceAll('-', ''))}, 'hex');
      ${load('@langchain/langgraph-checkpoint')}.then(({ uuid5 }) => {
        let refusal;
        try { uuid5('name', '6ba7b810'); } catch (error) { refusal = error.message; }
        const differing = ${JSON.stringify(NAMES)}.filter((name) => uuid5(name, ${JSON.stringify(NAMESPACE)}) !== v5(name, bytes));
        console.log(JSON.stringify([uuid5.name, uuid5('www.example.com', ${JSON.stringify(NAMESPACE)}), differing, refusal]));
      });`;
    const output = printedWith({ nativeIds: 'langgraph-checkpoint/native-ids.ts' }, script);
    // The id is the example of RFC 9562, appendix A.4.
    const refusal = 'Namespace must be array-like (16 iterable integer values, 0-255)';
    expectLibrary(
      output === JSON.stringify(['nativeUuid5', '2ed6657d-e927-568b-95e1-2665a8aea6a2', [], refusal]),
      `LangGraph names tasks otherwise than the patch takes it to: ${output}`,
    );
  });
});
