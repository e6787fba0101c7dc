import type { Page } from 'playwright-core';

/** Answers the requests of a page to a path instead of the server. @param answer called for each, with the request's body */
export async function answerInstead(page: Page, path: string, answer: (body: unknown) => unknown): Promise<void> {
  await page.route(
    ({ pathname }) => pathname === path,
    (route) => route.fulfill({ json: answer(route.request().postDataJSON()) }),
  );
}

/** A thread whose run waits for the answer to a question. */
export const waitingThread = (threadId: string, value: unknown): object => ({
  thread_id: threadId,
  state_updated_at: '2026-11-20T10:00:00.000000+00:00',
  updated_at: '2026-11-20T10:00:00.000000+00:00',
  status: 'interrupted',
  metadata: { assistant_id: 'talk', graph_id: 'talk' },
  values: {},
  interrupts: { task: [{ id: `of ${threadId}`, value }] },
});
