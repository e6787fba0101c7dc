import { Injectable } from '@nestjs/common';
import { v5 as uuidv5 } from 'uuid';
import { inScope } from '../../database/request-scope';
import { traceErrors } from '../trace.errors';
import { FeedbackLinks } from './feedback-links';
import type { LinkedFeedback } from './feedback.schemas';
import { FeedbackService } from './feedback.service';

/** Namespace of the ids of such feedback: one id a link, so that a second click corrects the first. */
const LINK_NAMESPACE = '0b5f4a52-3f2c-4c0e-9a55-6f1f2c1d7e90';

@Injectable()
export class LinkedFeedbackService {
  constructor(
    private readonly links: FeedbackLinks,
    private readonly feedback: FeedbackService,
  ) {}

  /** @throws 404 for a link that is none, or not any more */
  async leave(token: string, said: LinkedFeedback): Promise<void> {
    const claim = this.links.open(token);
    if (!claim) throw traceErrors.feedbackLinkInvalid();
    const { tenantId, runId, key } = claim;
    const id = uuidv5(`${tenantId}/${runId}/${key}`, LINK_NAMESPACE);
    // The route is public: who is let in, and to whose rows, is what the token says.
    await inScope({ tenantId }, () =>
      this.feedback.create(tenantId, { ...said, id, run_id: runId, key, feedback_source: { type: 'link' } }),
    );
  }
}
