import { Module, OnModuleInit } from '@nestjs/common';
import { CustomEncryption } from './custom-encryption';

/** The encryption of langgraph.json, which is loaded before the process serves or runs anything. */
@Module({ providers: [CustomEncryption], exports: [CustomEncryption] })
export class EncryptionModule implements OnModuleInit {
  constructor(private readonly encryption: CustomEncryption) {}

  onModuleInit(): Promise<void> {
    return this.encryption.load();
  }
}
