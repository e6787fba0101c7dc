import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CryptoModule } from '../crypto/crypto.module';
import { AttachmentsService } from './attachments/attachments.service';
import { FeedbackController } from './feedback/feedback.controller';
import { FeedbackRepository } from './feedback/feedback.repository';
import { FeedbackService } from './feedback/feedback.service';
import { FeedbackTokensController } from './feedback/feedback-tokens.controller';
import { PresignedFeedbackController } from './feedback/presigned-feedback.controller';
import { PresignedFeedbackRepository } from './feedback/presigned-feedback.repository';
import { PresignedFeedbackService } from './feedback/presigned-feedback.service';
import { LinkedFeedbackService } from './feedback/linked-feedback.service';
import { RequestDecoding } from './ingest/request-decoding';
import { RunUploadController, TraceIngestController } from './ingest/trace-ingest.controller';
import { TraceIngestRepository } from './ingest/trace-ingest.repository';
import { TraceIngestService } from './ingest/trace-ingest.service';
import { TracePositions } from './ingest/trace-positions.service';
import { TraceUploadService } from './ingest/trace-upload.service';
import { UploadBudget } from './ingest/upload-budget';
import { UploadReader } from './ingest/upload-reader';
import { LinkTokens } from './link-tokens';
import { OtlpController } from './otel/otlp.controller';
import { ProjectEntity } from './projects/project.entity';
import { ProjectsController } from './projects/projects.controller';
import { ProjectResolutionsController, ProjectsV2Controller } from './projects/projects-v2.controller';
import { ProjectsV2Service } from './projects/projects-v2.service';
import { ProjectsRepository } from './projects/projects.repository';
import { ProjectsService } from './projects/projects.service';
import {
  AttachmentsController,
  TraceQueryController,
  TraceQueryV2Controller,
  TraceRunController,
} from './query/trace-query.controller';
import { TraceQueryService } from './query/trace-query.service';
import { TraceRunsRepository } from './query/trace-runs.repository';
import { TraceStatsRepository } from './query/trace-stats.repository';
import { TraceUsageRepository } from './query/trace-usage.repository';
import {
  SharedRunsController,
  SharedRunsPageController,
  SharedRunsV1Controller,
} from './shares/shared-runs.controller';
import { SharedRunsService } from './shares/shared-runs.service';
import { RunSharesController, SharesController } from './shares/shares.controller';
import { SharesRepository } from './shares/shares.repository';
import { SharesService } from './shares/shares.service';
import { SharingService } from './shares/sharing.service';
import { RunGroupsController, TraceThreadsController } from './threads/trace-threads.controller';
import { TraceThreadsRepository } from './threads/trace-threads.repository';
import { TraceThreadsService } from './threads/trace-threads.service';
import { TraceDeletionRepository } from './trace-deletion.repository';
import { TracesModule } from './traces.module';

/** The api's half, for LangSmith clients: uploads, projects, feedback and queries. */
@Module({
  imports: [TypeOrmModule.forFeature([ProjectEntity]), CryptoModule, TracesModule],
  controllers: [
    RunUploadController,
    TraceIngestController,
    ProjectResolutionsController,
    ProjectsController,
    ProjectsV2Controller,
    PresignedFeedbackController,
    FeedbackTokensController,
    FeedbackController,
    TraceQueryController,
    TraceRunController,
    TraceQueryV2Controller,
    TraceThreadsController,
    RunGroupsController,
    RunSharesController,
    SharesController,
    SharedRunsController,
    SharedRunsV1Controller,
    SharedRunsPageController,
    AttachmentsController,
    OtlpController,
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
    TraceDeletionRepository,
    TraceIngestRepository,
    TraceIngestService,
    TracePositions,
    TraceQueryService,
    TraceRunsRepository,
    TraceStatsRepository,
    TraceThreadsRepository,
    TraceThreadsService,
    TraceUploadService,
    TraceUsageRepository,
    UploadBudget,
    UploadReader,
  ],
})
export class TracesApiModule {}
