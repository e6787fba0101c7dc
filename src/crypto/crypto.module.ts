import { Module } from '@nestjs/common';
import { SecretBox } from './secret-box';
import { SecretRotationService } from './secret-rotation.service';

@Module({ providers: [SecretBox, SecretRotationService], exports: [SecretBox, SecretRotationService] })
export class CryptoModule {}
