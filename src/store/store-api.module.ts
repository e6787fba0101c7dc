import { Module } from '@nestjs/common';
import { StoreController } from './store.controller';
import { StoreModule } from './store.module';

@Module({ imports: [StoreModule], controllers: [StoreController] })
export class StoreApiModule {}
