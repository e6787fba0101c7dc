import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { GraphsModule } from '../graphs/graphs.module';
import { UiBundles } from './ui-bundles';
import { UiController } from './ui.controller';

/** `ui` of langgraph.json. */
@Module({
  imports: [AuthModule, GraphsModule.for('inspect')],
  controllers: [UiController],
  providers: [UiBundles],
})
export class UiModule {}
