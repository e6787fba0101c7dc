import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { UiBundles } from './ui-bundles';
import { UiController } from './ui.controller';

/** `ui` of langgraph.json. */
@Module({
  imports: [AuthModule],
  controllers: [UiController],
  providers: [UiBundles],
})
export class UiApiModule {}
