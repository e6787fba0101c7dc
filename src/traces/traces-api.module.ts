import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CryptoModule } from '../crypto/crypto.module';
import { AttachmentsService } from './attachments/attachments.service';
import { FeedbackAliasesController, FeedbackController } from './feedback/feedback.controller';
import { FeedbackRepository } from './feedback/feedback.repository';
import { FeedbackService } from './feedback/feedback.service';
import { FeedbackTokenAliasesController, FeedbackTokensController } from './feedback/feedback-tokens.controller';
import {
  PresignedFeedbackAliasesController,
  PresignedFeedbackController,
} from './feedback/presigned-feedback.controller';
import { PresignedFeedbackRepository } from './feedback/presigned-feedback.repository';
import { PresignedFeedbackService } from './feedback/presigned-feedback.service';
import { LinkedFeedbackService } from './feedback/linked-feedback.service';
import { RequestDecoding } from './ingest/request-decoding';
import {
  RunUploadAliasController,
  RunUploadController,
  TraceIngestAliasesController,
  TraceIngestController,
} from './ingest/trace-ingest.controller';
import { TraceIngestRepository } from './ingest/trace-ingest.repository';
import { TraceIngestService } from './ingest/trace-ingest.service';
import { TraceUploadService } from './ingest/trace-upload.service';
import { UploadReader } from './ingest/upload-reader';
import { LinkTokens } from './link-tokens';
import { OtlpAliasesController, OtlpController } from './otel/otlp.controller';
import { ProjectEntity } from './projects/project.entity';
import { ProjectAliasesController, ProjectsController } from './projects/projects.controller';
import {
  ProjectResolutionsAliasesController,
  ProjectResolutionsController,
  ProjectsV2AliasController,
  ProjectsV2Controller,
} from './projects/projects-v2.controller';
import { ProjectsV2Service } from './projects/projects-v2.service';
import { ProjectsRepository } from './projects/projects.repository';
import { ProjectsService } from './projects/projects.service';
import {
  AttachmentsController,
  TraceQueryAliasesController,
  TraceQueryController,
  TraceQueryV2AliasController,
  TraceQueryV2Controller,
  TraceRunAliasController,
  TraceRunController,
} from './query/trace-query.controller';
import { TraceQueryService } from './query/trace-query.service';
import { TraceRunsRepository } from './query/trace-runs.repository';
import { TraceUsageRepository } from './query/trace-usage.repository';
import {
  SharedRunsAliasController,
  SharedRunsController,
  SharedRunsPageController,
  SharedRunsV1AliasesController,
  SharedRunsV1Controller,
} from './shares/shared-runs.controller';
import { SharedRunsService } from './shares/shared-runs.service';
import {
  RunSharesAliasesController,
  RunSharesController,
  SharesAliasController,
  SharesController,
} from './shares/shares.controller';
import { SharesRepository } from './shares/shares.repository';
import { SharesService } from './shares/shares.service';
import { SharingService } from './shares/sharing.service';
import {
  RunGroupsAliasesController,
  RunGroupsController,
  TraceThreadsAliasController,
  TraceThreadsController,
} from './threads/trace-threads.controller';
import { TraceThreadsRepository } from './threads/trace-threads.repository';
import { TraceThreadsService } from './threads/trace-threads.service';
import { TracesModule } from './traces.module';

/** The api's half, what LangSmith clients talk to: uploads, projects, feedback and queries. */
@Module({
  imports: [TypeOrmModule.forFeature([ProjectEntity]), CryptoModule, TracesModule],
  controllers: [
    RunUploadController,
    RunUploadAliasController,
    TraceIngestController,
    TraceIngestAliasesController,
    ProjectResolutionsController,
    ProjectResolutionsAliasesController,
    ProjectsController,
    ProjectAliasesController,
    ProjectsV2Controller,
    ProjectsV2AliasController,
    PresignedFeedbackController,
    PresignedFeedbackAliasesController,
    FeedbackTokensController,
    FeedbackTokenAliasesController,
    FeedbackController,
    FeedbackAliasesController,
    TraceQueryController,
    TraceQueryAliasesController,
    TraceRunController,
    TraceRunAliasController,
    TraceQueryV2Controller,
    TraceQueryV2AliasController,
    TraceThreadsController,
    TraceThreadsAliasController,
    RunGroupsController,
    RunGroupsAliasesController,
    RunSharesController,
    RunSharesAliasesController,
    SharesController,
    SharesAliasController,
    SharedRunsController,
    SharedRunsAliasController,
    SharedRunsV1Controller,
    SharedRunsV1AliasesController,
    SharedRunsPageController,
    AttachmentsController,
    OtlpController,
    OtlpAliasesController,
  ],
  providers: [
    AttachmentsService,
    FeedbackRepository,
    FeedbackService,
    LinkedFeedbackService,
    LinkTokens,
    PresignedFeedbackRepository,
    PresignedFeedbackService,
    ProjectsRepository,
    ProjectsService,
    ProjectsV2Service,
    RequestDecoding,
    SharedRunsService,
    SharesRepository,
    SharesService,
    SharingService,
    TraceIngestRepository,
    TraceIngestService,
    TraceQueryService,
    TraceRunsRepository,
    TraceThreadsRepository,
    TraceThreadsService,
    TraceUploadService,
    TraceUsageRepository,
    UploadReader,
  ],
})
export class TracesApiModule {}
