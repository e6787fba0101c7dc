import { randomUUID } from 'node:crypto';
import { Injectable, Module } from '@nestjs/common';

/** Id of this process among those of the deployment: its connections and its task queue have names that contain it. */
@Injectable()
export class ProcessId {
  readonly value: string = randomUUID();
}

/** `application_name` of the pooled connections of a process. */
export const connectionNameOf = (processId: string): string => `gantry ${processId}`;

@Module({ providers: [ProcessId], exports: [ProcessId] })
export class ProcessIdModule {}
