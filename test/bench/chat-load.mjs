// How many chats a server keeps up with: answers of 200 tokens, 20 ms apart, that begin one after the other.
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from './measure.mjs';
import { post } from './post.mjs';

const TOKENS = 200;
const ANSWER_MS = 20 * TOKENS;
const ANSWERS = 2;
/** Numbers of chats at once that are tried, until readers notice. */
const CHATS = [16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 288, 320, 384, 512];
/** Gap between two tokens that a reader notices. */
const GAP_MS = 100;
/** Longest time for 95 of 100 answers, from the request to the last token: a server that lets chats wait for each other takes longer. */
const LONGEST_MS = 1.25 * ANSWER_MS;

/**
 * Streams one answer.
 * @param {string} api
 * @returns {Promise<{ ms: number, gaps: number[] }>} milliseconds from the request to the last token, and between the arrivals of
 *   tokens; those that arrive together are one arrival
 */
async function readAnswer(api) {
  const since = performance.now();
  const input = { messages: [{ role: 'user', content: 'talk' }] };
  const response = await post(`${api}/runs/stream`, { assistant_id: 'chat', input, stream_mode: 'messages-tuple' });
  /** @type {number[]} */
  const gaps = [];
  const decoder = new TextDecoder();
  let tokens = 0;
  let last = since;
  let tail = '';
  for await (const chunk of response.body) {
    const text = tail + decoder.decode(chunk, { stream: true });
    const arrived = text.match(/event: messages/g)?.length ?? 0;
    if (arrived > 0) {
      const now = performance.now();
      if (tokens > 0) gaps.push(now - last);
      last = now;
      tokens += arrived;
    }
    // The name of an event may arrive in two pieces.
    tail = text.slice(text.lastIndexOf('\n') + 1).slice(-14);
  }
  if (tokens < TOKENS) throw new Error(`An answer of ${tokens} tokens`);
  return { ms: last - since, gaps };
}

/**
 * @param {string} api
 * @param {number} chats
 * @returns {Promise<{ p99: number, ms: number }>} 99th percentile of the gaps between tokens, and 95th of the times of answers, in
 *   milliseconds
 */
async function measureAt(api, chats) {
  /** @type {Awaited<ReturnType<typeof readAnswer>>[]} */
  const answers = [];
  await Promise.all(
    Array.from({ length: chats }, async (_, index) => {
      await sleep((index * ANSWER_MS) / chats);
      for (let answer = 0; answer < ANSWERS; answer += 1) answers.push(await readAnswer(api));
    }),
  );
  const gaps = answers.flatMap((answer) => answer.gaps);
  const times = answers.map(({ ms }) => ms);
  return { p99: percentile(gaps, 0.99), ms: percentile(times, 0.95) };
}

/**
 * Number of chats at once up to which 99 of 100 arrivals of tokens come within 100 ms of the one before, and 95 of 100 answers
 * within a quarter more than the time of their tokens.
 * @param {string} api
 * @returns {Promise<import('./measure.mjs').Figures>} 0 chats if even the fewest that are tried are too many
 */
export async function chatLoad(api) {
  let kept = { chats: 0, p99: NaN };
  for (const chats of CHATS) {
    const { p99, ms } = await measureAt(api, chats);
    if (p99 > GAP_MS || ms > LONGEST_MS) break;
    kept = { chats, p99 };
  }
  return kept;
}
