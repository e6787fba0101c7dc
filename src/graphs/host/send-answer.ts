import type { ToProcess } from './protocol';

type Answer = Extract<ToProcess, { request: number }>;

/**
 * Sends the answer to a question of a graph process. What can't be written as a message is an error of the question, which its
 * caller sees, and not of this process.
 */
export async function sendAnswer(send: (message: ToProcess) => void, answered: Promise<Answer>): Promise<void> {
  const answer = await answered;
  try {
    send(answer);
  } catch (error) {
    const { type, request } = answer;
    send({ type, request, error: `The answer can't be sent: ${String(error)}` } as Answer);
  }
}
