import { Injectable, Logger } from '@nestjs/common';
import { type Sweep, Sweeps } from '../../sweeps/sweep';
import { AttachmentStore, MAX_DELETED } from './attachment-store';
import { AttachmentsRepository, InlineAttachment } from './attachments.repository';

/** Time limit of one round, since sweeps run in sequence and others wait. */
const ROUND_MS = 5_000;
/** Pause after a failure of the store. */
const PAUSE_MS = 60_000;

/** Deletes the objects of removed attachments, and moves attachments from Postgres into the store. */
@Injectable()
@Sweeps(80)
export class AttachmentSweep implements Sweep {
  readonly name = 'trace attachments';
  private readonly logger = new Logger(AttachmentSweep.name);
  private next = 0;

  constructor(
    private readonly store: AttachmentStore,
    private readonly attachments: AttachmentsRepository,
  ) {}

  async sweep(): Promise<void> {
    const now = performance.now();
    if (!this.store.isConfigured || now < this.next) return;
    this.next = now + PAUSE_MS;
    const until = now + ROUND_MS;
    while (performance.now() < until && (await this.discard()) === MAX_DELETED);
    let moved = 0;
    while (performance.now() < until && (await this.moveOne())) moved += 1;
    if (moved > 0) this.logger.log({ moved }, 'Moved attachments from Postgres to the object store');
    this.next = 0;
  }

  private discard(): Promise<number> {
    return this.attachments.discardDue(MAX_DELETED, (objects) =>
      this.store.deleteAttachments(objects.map((object) => object.object_key)),
    );
  }

  private async moveOne(): Promise<boolean> {
    const inline: InlineAttachment | undefined = await this.attachments.nextInline();
    if (!inline) return false;
    const { tenant_id: tenantId, run_id: runId, data } = inline;
    const content = { pieces: [data], size: data.length };
    const key = this.store.keyOf(tenantId, runId, content);
    await this.attachments.announce(tenantId, [key]);
    await this.store.putAttachment(key, content);
    await this.attachments.moveOut(inline, key);
    return true;
  }
}
