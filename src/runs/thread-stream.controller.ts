import { Controller, Get, Headers, Param, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { CustomAuthDecides, Tenant, type TenantId } from '../auth/tenant';
import { EVENT_STREAM } from '../http/event-stream';
import { RouteTags } from '../http/route-tags';
import { threadParam, threadStreamQuery } from './runs.schemas';
import { ThreadStreamService } from './thread-stream.service';

@RouteTags('Threads')
@CustomAuthDecides()
@Controller('threads/:thread_id/stream')
export class ThreadStreamController {
  constructor(private readonly streams: ThreadStreamService) {}

  /**
   * `run_modes`: every event of every run. `lifecycle`: their begin and end alone. `state_update`: the state, each time it
   * was edited by hand. Begins with the run in flight, or after the id in `Last-Event-ID`, and continues until the client
   * disconnects.
   */
  @Get()
  @ApiOperation({ summary: 'Stream what happens on a thread, run after run' })
  @ApiOkResponse(EVENT_STREAM)
  stream(
    @Tenant() tenantId: TenantId,
    @Param({ schema: threadParam }) { thread_id }: z.infer<typeof threadParam>,
    @Query({ schema: threadStreamQuery }) query: z.infer<typeof threadStreamQuery>,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const modes = query.stream_modes ?? query.stream_mode ?? ['run_modes'];
    return this.streams.stream(tenantId, thread_id, reply, { modes: new Set(modes), lastEventId });
  }
}
