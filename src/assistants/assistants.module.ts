import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CustomAuthModule } from '../auth/custom/custom-auth.module';
import { CryptoModule } from '../crypto/crypto.module';
import { GraphsModule } from '../graphs/graphs.module';
import { AssistantListeners } from './assistant-listeners';
import { AssistantEntity, AssistantVersionEntity } from './assistant.entity';
import { AssistantsController } from './assistants.controller';
import { AssistantsRepository } from './assistants.repository';
import { AssistantsService } from './assistants.service';

@Module({
  imports: [
    DiscoveryModule,
    TypeOrmModule.forFeature([AssistantEntity, AssistantVersionEntity]),
    CryptoModule,
    CustomAuthModule,
    GraphsModule.for('inspect'),
  ],
  controllers: [AssistantsController],
  providers: [AssistantListeners, AssistantsRepository, AssistantsService],
  exports: [AssistantsService],
})
export class AssistantsModule {}
