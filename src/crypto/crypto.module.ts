import { Module } from '@nestjs/common';
import { SecretBox } from './secret-box';
import { SecretRotationService } from './secret-rotation.service';
import { SecretValues } from './secret-values';

@Module({
  providers: [SecretBox, SecretRotationService, SecretValues],
  exports: [SecretBox, SecretRotationService, SecretValues],
})
export class CryptoModule {}
