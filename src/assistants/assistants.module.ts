import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CustomAuthModule } from '../auth/custom/custom-auth.module';
import { CryptoModule } from '../crypto/crypto.module';
import { AssistantListeners } from './assistant-listeners';
import { AssistantEntity, AssistantVersionEntity } from './assistant.entity';
import { AssistantsRepository } from './assistants.repository';
import { AssistantsService } from './assistants.service';

/** Assistants as records, in both processes. */
@Module({
  imports: [
    DiscoveryModule,
    TypeOrmModule.forFeature([AssistantEntity, AssistantVersionEntity]),
    CryptoModule,
    CustomAuthModule,
  ],
  providers: [AssistantListeners, AssistantsRepository, AssistantsService],
  exports: [AssistantsService],
})
export class AssistantsModule {}
