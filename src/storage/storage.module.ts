import { Module } from '@nestjs/common';
import { ObjectStores } from './object-stores';

/** Object stores: those that tenants name, of each kind. */
@Module({ providers: [ObjectStores], exports: [ObjectStores] })
export class StorageModule {}
