// How many chats a server keeps up with: answers of 200 tokens, 20 ms apart, that begin one after the other.
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from './measure.mjs';
import { post } from './post.mjs';

const TOKENS = 200;
const ANSWER_MS = 20 * TOKENS;
const ANSWERS = 2;
/** Numbers of chats at once that are tried, until readers notice. */
const CHATS = [16, 32, 48, 64, 96, 128, 192, 256, 384, 512];
/** Gap between two tokens that a reader notices. */
const GAP_MS = 100;

/**
 * Streams one answer.
 * @param {string} api
 * @returns {Promise<number[]>} milliseconds between the arrivals of its tokens; those that arrive together are one arrival
 */
async function gapsOfAnswer(api) {
  const input = { messages: [{ role: 'user', content: 'talk' }] };
  const response = await post(`${api}/runs/stream`, { assistant_id: 'chat', input, stream_mode: 'messages-tuple' });
  /** @type {number[]} */
  const gaps = [];
  const decoder = new TextDecoder();
  let tokens = 0;
  let last;
  let tail = '';
  for await (const chunk of response.body) {
    const text = tail + decoder.decode(chunk, { stream: true });
    const arrived = text.match(/event: messages/g)?.length ?? 0;
    if (arrived > 0) {
      const now = performance.now();
      if (last !== undefined) gaps.push(now - last);
      last = now;
      tokens += arrived;
    }
    // The name of an event may arrive in two pieces.
    tail = text.slice(text.lastIndexOf('\n') + 1).slice(-14);
  }
  if (tokens < TOKENS) throw new Error(`An answer of ${tokens} tokens`);
  return gaps;
}

/** @param {string} api @param {number} chats @returns {Promise<number>} 99th percentile of the gaps between tokens, in milliseconds */
async function gapAt(api, chats) {
  const gaps = await Promise.all(
    Array.from({ length: chats }, async (_, index) => {
      await sleep((index * ANSWER_MS) / chats);
      /** @type {number[]} */
      const own = [];
      for (let answer = 0; answer < ANSWERS; answer += 1) own.push(...(await gapsOfAnswer(api)));
      return own;
    }),
  );
  return percentile(gaps.flat(), 0.99);
}

/**
 * Number of chats at once up to which 99 of 100 arrivals of tokens come within 100 ms of the one before.
 * @param {string} api
 * @returns {Promise<import('./measure.mjs').Figures>} 0 chats if even the fewest that are tried are too many
 */
export async function chatLoad(api) {
  let kept = { chats: 0, p99: NaN };
  for (const chats of CHATS) {
    const p99 = await gapAt(api, chats);
    if (p99 > GAP_MS) break;
    kept = { chats, p99 };
  }
  return kept;
}
