import { randomUUID } from 'node:crypto';

export const TRACES_OF_A_DAY = 250;
export const RUNS_OF_A_DAY = 4 * TRACES_OF_A_DAY;
const CITIES = ['Berlin', 'Lagos', 'Lima', 'Oslo', 'Pune', 'Zürich'];

/**
 * The runs of a day, four to a trace: an agent, two model calls, and a tool between them.
 * @param {number} midnight the day's beginning, in milliseconds
 * @param {string} projectId
 */
export function dayOfTraces(midnight, projectId) {
  const apart = 86_400_000 / TRACES_OF_A_DAY;
  return Array.from({ length: TRACES_OF_A_DAY }, (_, index) => {
    const city = CITIES[index % CITIES.length];
    const root = makeRun({ projectId, start: midnight + index * apart, ms: 900, name: 'agent', type: 'chain' });
    const question = `What is the weather in ${city}? (${index})`;
    const child = (/** @type {Partial<Parameters<typeof makeRun>[0]>} */ run) =>
      makeRun({ projectId, parent: root, ...run });
    return [
      { ...root, inputs: { question }, outputs: { answer: `It is clear in ${city}.` } },
      {
        ...child({ start: midnight + index * apart + 10, ms: 300, name: 'model', type: 'llm' }),
        inputs: { messages: [{ role: 'user', content: question }] },
        outputs: { tool: 'get_weather', usage_metadata: usage(40 + (index % 7), 12) },
      },
      {
        ...child({ start: midnight + index * apart + 320, ms: 120, name: 'get_weather', type: 'tool' }),
        inputs: { city },
        outputs: { degrees: (index % 35) - 5, sky: 'clear' },
      },
      {
        ...child({ start: midnight + index * apart + 450, ms: 400, name: 'model', type: 'llm' }),
        inputs: { messages: [{ role: 'tool', content: `${city}: clear` }] },
        outputs: { content: `It is clear in ${city}.`, usage_metadata: usage(70, 9 + (index % 5)) },
      },
    ];
  }).flat();
}

/** @param {number} input @param {number} output */
function usage(input, output) {
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}

/**
 * @param {{ projectId: string, start: number, ms: number, name: string, type: string,
 *   parent?: { id: string, trace_id: string, dotted_order: string } }} run
 */
function makeRun({ projectId, start, ms, name, type, parent }) {
  const id = randomUUID();
  const startTime = new Date(start).toISOString();
  // Runs of a trace are sorted by this: the time and id of each ancestor, then of the run.
  const place = `${startTime.replace(/[-:.]/g, '').replace('Z', '000Z')}${id}`;
  return {
    id,
    trace_id: parent?.trace_id ?? id,
    ...(parent && { parent_run_id: parent.id }),
    dotted_order: parent ? `${parent.dotted_order}.${place}` : place,
    session_id: projectId,
    name,
    run_type: type,
    start_time: startTime,
    end_time: new Date(start + ms).toISOString(),
  };
}
