import type { Endpoint } from './exchange';
import { sendJson } from './exchange';

interface EmbeddingsRequest {
  model: string;
  input: string | string[];
  dimensions?: number;
  encoding_format?: 'float' | 'base64';
}

/** `POST /v1/embeddings` of OpenAI. Texts are near each other as far as they have the same words. */
export const embeddings: Endpoint = ({ body, response }) => {
  const { model, input, dimensions = 1536, encoding_format } = body as EmbeddingsRequest;
  const data = [input].flat().map((text, index) => {
    const vector = vectorOf(text, dimensions);
    const embedding = encoding_format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
  sendJson(response, { object: 'list', model, data, usage: { prompt_tokens: 3, total_tokens: 3 } });
  return Promise.resolve();
};

function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/\w+/g) ?? ['']) {
    const place = [...word].reduce((hash, letter) => (hash * 31 + letter.codePointAt(0)!) >>> 0, 7);
    vector[place % dimensions] += 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
