import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CustomAuthModule } from '../auth/custom/custom-auth.module';
import { CryptoModule } from '../crypto/crypto.module';
import { GraphsModule } from '../graphs/graphs.module';
import { AssistantEntity, AssistantVersionEntity } from './assistant.entity';
import { AssistantsController } from './assistants.controller';
import { AssistantsRepository } from './assistants.repository';
import { AssistantsService } from './assistants.service';

@Module({
  imports: [
    TypeOrmModule.forFeature([AssistantEntity, AssistantVersionEntity]),
    CryptoModule,
    CustomAuthModule,
    GraphsModule.for('inspect'),
  ],
  controllers: [AssistantsController],
  providers: [AssistantsRepository, AssistantsService],
  exports: [AssistantsService],
})
export class AssistantsModule {}
