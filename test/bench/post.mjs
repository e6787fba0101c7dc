/**
 * Posts JSON.
 * @param {string} url
 * @param {unknown} body
 * @param {AbortSignal} [signal]
 * @throws when the server refuses it, with its answer
 */
export async function post(url, body, signal) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  if (!response.ok) throw new Error(`${response.status} from ${url}: ${await response.text()}`);
  return response;
}
