import { DynamicModule, Module } from '@nestjs/common';
import { AppConfig } from './config';
import { HttpSettings } from './http-settings';

@Module({})
export class ConfigModule {
  /** The settings are read once, by the process's entry point, and injected from there. */
  static forRoot(config: AppConfig): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [
        { provide: AppConfig, useValue: config },
        { provide: HttpSettings, useFactory: () => HttpSettings.of(config) },
      ],
      exports: [AppConfig, HttpSettings],
    };
  }
}
