import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ThreadListeners } from './thread-listeners';
import { ThreadRemoval } from './thread-removal';

/** The deletion of threads, which requests, their expiry and the truncation for tests share. */
@Module({ imports: [DiscoveryModule], providers: [ThreadListeners, ThreadRemoval], exports: [ThreadRemoval] })
export class ThreadRemovalModule {}
