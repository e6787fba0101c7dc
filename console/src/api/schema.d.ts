/** Made from the served OpenAPI document by `npm run console:types`. */
export interface paths {
  "/": {
    parameters: {
    };
    get: operations["SystemController_ok[1]"];
  };
  "/.well-known/agent-card.json": {
    parameters: {
    };
    get: operations["A2aController_wellKnownCard"];
  };
  "/.well-known/oauth-protected-resource": {
    parameters: {
    };
    get: operations["OAuthController_server"];
  };
  "/.well-known/oauth-protected-resource/mcp": {
    parameters: {
    };
    get: operations["OAuthController_mcp"];
  };
  "/a2a/{assistant_id}": {
    parameters: {
    };
    get: operations["A2aController_card[0]"];
    post: operations["A2aController_call"];
  };
  "/a2a/{assistant_id}/.well-known/agent-card.json": {
    parameters: {
    };
    get: operations["A2aController_card[1]"];
  };
  "/a2a/{assistant_id}/.well-known/agent.json": {
    parameters: {
    };
    get: operations["A2aController_card[2]"];
  };
  "/a2a/{assistant_id}/message:send": {
    parameters: {
    };
    post: operations["A2aRestController_sendMessage"];
  };
  "/a2a/{assistant_id}/message:stream": {
    parameters: {
    };
    post: operations["A2aRestController_streamMessage"];
  };
  "/a2a/{assistant_id}/tasks": {
    parameters: {
    };
    get: operations["A2aRestController_listTasks"];
  };
  "/a2a/{assistant_id}/tasks/{task_id}": {
    parameters: {
    };
    get: operations["A2aRestController_getTask"];
  };
  "/a2a/{assistant_id}/tasks/{task_id}:cancel": {
    parameters: {
    };
    post: operations["A2aRestController_cancelTask"];
  };
  "/a2a/{assistant_id}/tasks/{task_id}:subscribe": {
    parameters: {
    };
    get: operations["A2aRestController_subscribeToTask"];
    post: operations["A2aRestController_subscribeByPost"];
  };
  "/a2a/{assistant_id}/tasks/{task_id}/pushNotificationConfigs": {
    parameters: {
    };
    get: operations["A2aRestController_listPushConfigs"];
    post: operations["A2aRestController_createPushConfig"];
  };
  "/a2a/{assistant_id}/tasks/{task_id}/pushNotificationConfigs/{config_id}": {
    parameters: {
    };
    get: operations["A2aRestController_getPushConfig"];
    delete: operations["A2aRestController_deletePushConfig"];
  };
  "/admin/audit": {
    parameters: {
    };
    get: operations["AuditController_search"];
  };
  "/admin/keys": {
    parameters: {
    };
    get: operations["AdminController_listKeys"];
    post: operations["AdminController_createKey"];
  };
  "/admin/keys/{key_id}": {
    parameters: {
    };
    delete: operations["AdminController_revokeKey"];
  };
  "/admin/tenants": {
    parameters: {
    };
    get: operations["AdminController_listTenants"];
    post: operations["AdminController_createTenant"];
  };
  "/admin/tenants/{tenant_id}": {
    parameters: {
    };
    get: operations["AdminController_getTenant"];
    patch: operations["AdminController_patchTenant"];
  };
  "/api/v1/attachments/{tenant_id}/{run_id}/{name}": {
    parameters: {
    };
    get: operations["AttachmentsController_read"];
  };
  "/api/v1/bulk-exports": {
    parameters: {
    };
    get: operations["ExportsController_list"];
    post: operations["ExportsController_create"];
  };
  "/api/v1/bulk-exports/{export_id}": {
    parameters: {
    };
    get: operations["ExportsController_get"];
    patch: operations["ExportsController_cancel"];
  };
  "/api/v1/bulk-exports/{export_id}/manifest": {
    parameters: {
    };
    get: operations["ExportsController_manifest"];
  };
  "/api/v1/bulk-exports/{export_id}/progress": {
    parameters: {
    };
    get: operations["ExportsController_watch"];
  };
  "/api/v1/bulk-exports/{export_id}/retry": {
    parameters: {
    };
    post: operations["ExportsController_retry"];
  };
  "/api/v1/bulk-exports/{export_id}/runs": {
    parameters: {
    };
    get: operations["ExportsController_listRuns"];
  };
  "/api/v1/bulk-exports/{export_id}/runs/{run_id}": {
    parameters: {
    };
    get: operations["ExportsController_getRun"];
  };
  "/api/v1/bulk-exports/{export_id}/runs/{run_id}/preview": {
    parameters: {
    };
    get: operations["ExportsController_previewFile"];
  };
  "/api/v1/bulk-exports/{export_id}/runs/{run_id}/retry": {
    parameters: {
    };
    post: operations["ExportsController_retryRun"];
  };
  "/api/v1/bulk-exports/{export_id}/verify": {
    parameters: {
    };
    post: operations["ExportsController_verify"];
  };
  "/api/v1/bulk-exports/destinations": {
    parameters: {
    };
    get: operations["DestinationsController_list"];
    post: operations["DestinationsController_create"];
  };
  "/api/v1/bulk-exports/destinations/{destination_id}": {
    parameters: {
    };
    get: operations["DestinationsController_get"];
    delete: operations["DestinationsController_delete"];
    patch: operations["DestinationsController_update"];
  };
  "/api/v1/bulk-exports/destinations/{destination_id}/test": {
    parameters: {
    };
    post: operations["DestinationsController_test"];
  };
  "/api/v1/bulk-exports/runs": {
    parameters: {
    };
    get: operations["ExportsController_listSpawnedRuns"];
  };
  "/api/v1/feedback": {
    parameters: {
    };
    get: operations["FeedbackController_list"];
    post: operations["FeedbackController_create"];
  };
  "/api/v1/feedback/{feedback_id}": {
    parameters: {
    };
    get: operations["FeedbackController_read"];
    delete: operations["FeedbackController_delete"];
    patch: operations["FeedbackController_update"];
  };
  "/api/v1/feedback/tokens": {
    parameters: {
    };
    get: operations["PresignedFeedbackController_list"];
    post: operations["PresignedFeedbackController_create"];
  };
  "/api/v1/feedback/tokens/{token}": {
    parameters: {
    };
    get: operations["FeedbackTokensController_follow"];
    post: operations["FeedbackTokensController_leave"];
  };
  "/api/v1/me": {
    parameters: {
    };
    get: operations["MeController_me"];
  };
  "/api/v1/otel/v1/traces": {
    parameters: {
    };
    post: operations["OtlpController_traces"];
  };
  "/api/v1/public/{share_token}/run": {
    parameters: {
    };
    get: operations["SharedRunsV1Controller_root"];
  };
  "/api/v1/public/{share_token}/run/{run_id}": {
    parameters: {
    };
    get: operations["SharedRunsV1Controller_read"];
  };
  "/api/v1/public/{share_token}/runs/query": {
    parameters: {
    };
    post: operations["SharedRunsV1Controller_query"];
  };
  "/api/v1/runs": {
    parameters: {
    };
    post: operations["RunUploadController_post"];
  };
  "/api/v1/runs/{run_id}": {
    parameters: {
    };
    get: operations["TraceRunController_read"];
    patch: operations["TraceIngestController_patch"];
  };
  "/api/v1/runs/{run_id}/share": {
    parameters: {
    };
    get: operations["RunSharesController_read"];
    put: operations["RunSharesController_share"];
    delete: operations["RunSharesController_revoke"];
  };
  "/api/v1/runs/batch": {
    parameters: {
    };
    post: operations["RunUploadController_batch"];
  };
  "/api/v1/runs/delete": {
    parameters: {
    };
    post: operations["TraceQueryController_delete"];
  };
  "/api/v1/runs/group": {
    parameters: {
    };
    post: operations["RunGroupsController_group"];
  };
  "/api/v1/runs/multipart": {
    parameters: {
    };
    post: operations["TraceIngestController_multipart"];
  };
  "/api/v1/runs/query": {
    parameters: {
    };
    post: operations["TraceQueryController_query"];
  };
  "/api/v1/runs/query/validate": {
    parameters: {
    };
    post: operations["TraceQueryController_validate"];
  };
  "/api/v1/runs/stats": {
    parameters: {
    };
    post: operations["TraceQueryController_stats"];
  };
  "/api/v1/sessions": {
    parameters: {
    };
    get: operations["ProjectsController_list"];
    post: operations["ProjectsController_create"];
    delete: operations["ProjectsController_deleteMany"];
  };
  "/api/v1/sessions/{project_id}": {
    parameters: {
    };
    get: operations["ProjectsController_read"];
    delete: operations["ProjectsController_delete"];
    patch: operations["ProjectsController_update"];
  };
  "/api/v1/sessions/resolutions": {
    parameters: {
    };
    get: operations["ProjectResolutionsController_resolve"];
  };
  "/api/v2/public/{share_token}/run/{run_id}": {
    parameters: {
    };
    get: operations["SharedRunsController_read"];
  };
  "/api/v2/public/{share_token}/runs/query": {
    parameters: {
    };
    post: operations["SharedRunsController_query"];
  };
  "/api/v2/runs/{run_id}": {
    parameters: {
    };
    get: operations["TraceQueryV2Controller_read"];
  };
  "/api/v2/runs/{run_id}/share": {
    parameters: {
    };
    post: operations["SharesController_shareRun"];
  };
  "/api/v2/runs/{trace_id}/share": {
    parameters: {
    };
    delete: operations["SharesController_revokeTrace"];
  };
  "/api/v2/runs/query": {
    parameters: {
    };
    post: operations["TraceQueryV2Controller_query"];
  };
  "/api/v2/sessions": {
    parameters: {
    };
    get: operations["ProjectsV2Controller_list"];
    post: operations["ProjectsV2Controller_create"];
  };
  "/api/v2/sessions/{project_id}": {
    parameters: {
    };
    get: operations["ProjectsV2Controller_read"];
    patch: operations["ProjectsV2Controller_update"];
  };
  "/api/v2/threads/{thread_id}/share": {
    parameters: {
    };
    get: operations["SharesController_readThread"];
    post: operations["SharesController_shareThread"];
    delete: operations["SharesController_revokeThread"];
  };
  "/api/v2/threads/{thread_id}/stats": {
    parameters: {
    };
    get: operations["TraceThreadsController_statsOfOne"];
  };
  "/api/v2/threads/{thread_id}/traces": {
    parameters: {
    };
    get: operations["TraceThreadsController_traces"];
  };
  "/api/v2/threads/query": {
    parameters: {
    };
    post: operations["TraceThreadsController_query"];
  };
  "/api/v2/threads/stats": {
    parameters: {
    };
    post: operations["TraceThreadsController_statsOfAll"];
  };
  "/api/v2/traces/{trace_id}/runs": {
    parameters: {
    };
    get: operations["TraceQueryV2Controller_traceRuns"];
  };
  "/api/v2/traces/query": {
    parameters: {
    };
    post: operations["TraceQueryV2Controller_queryTraces"];
  };
  "/assistants": {
    parameters: {
    };
    post: operations["AssistantsController_create"];
  };
  "/assistants/{assistant_id}": {
    parameters: {
    };
    get: operations["AssistantsController_get"];
    delete: operations["AssistantRemovalController_delete"];
    patch: operations["AssistantsController_patch"];
  };
  "/assistants/{assistant_id}/graph": {
    parameters: {
    };
    get: operations["AssistantsController_drawGraph"];
  };
  "/assistants/{assistant_id}/latest": {
    parameters: {
    };
    post: operations["AssistantsController_setLatest"];
  };
  "/assistants/{assistant_id}/schemas": {
    parameters: {
    };
    get: operations["AssistantsController_schemas"];
  };
  "/assistants/{assistant_id}/subgraphs": {
    parameters: {
    };
    get: operations["AssistantsController_subgraphs"];
  };
  "/assistants/{assistant_id}/subgraphs/{namespace}": {
    parameters: {
    };
    get: operations["AssistantsController_subgraph"];
  };
  "/assistants/{assistant_id}/versions": {
    parameters: {
    };
    post: operations["AssistantsController_versions"];
  };
  "/assistants/count": {
    parameters: {
    };
    post: operations["AssistantsController_count"];
  };
  "/assistants/search": {
    parameters: {
    };
    post: operations["AssistantsController_search"];
  };
  "/info": {
    parameters: {
    };
    get: operations["SystemController_info"];
  };
  "/mcp": {
    parameters: {
    };
    get: operations["McpController_get"];
    post: operations["McpController_post"];
    delete: operations["McpController_delete"];
  };
  "/metrics": {
    parameters: {
    };
    get: operations["SystemController_metrics"];
  };
  "/ok": {
    parameters: {
    };
    get: operations["SystemController_ok[0]"];
  };
  "/public/{share_token}/r": {
    parameters: {
    };
    get: operations["SharedRunsPageController_page"];
  };
  "/ready": {
    parameters: {
    };
    get: operations["SystemController_ready"];
  };
  "/runs": {
    parameters: {
    };
    post: operations["StatelessRunsController_create"];
  };
  "/runs/{run_id}": {
    parameters: {
    };
    get: operations["StatelessRunsController_get"];
  };
  "/runs/{run_id}/join": {
    parameters: {
    };
    get: operations["StatelessRunsController_join"];
  };
  "/runs/{run_id}/stream": {
    parameters: {
    };
    get: operations["StatelessRunsController_joinStream"];
  };
  "/runs/batch": {
    parameters: {
    };
    post: operations["StatelessRunsController_createBatch"];
  };
  "/runs/cancel": {
    parameters: {
    };
    post: operations["StatelessRunsController_cancelMany"];
  };
  "/runs/count": {
    parameters: {
    };
    post: operations["RunSearchController_count"];
  };
  "/runs/crons": {
    parameters: {
    };
    post: operations["CronsController_create"];
  };
  "/runs/crons/{cron_id}": {
    parameters: {
    };
    get: operations["CronsController_get"];
    delete: operations["CronsController_delete"];
    patch: operations["CronsController_patch"];
  };
  "/runs/crons/{cron_id}/backfill": {
    parameters: {
    };
    post: operations["CronsController_backfill"];
  };
  "/runs/crons/{cron_id}/pause": {
    parameters: {
    };
    post: operations["CronsController_pause"];
  };
  "/runs/crons/{cron_id}/resume": {
    parameters: {
    };
    post: operations["CronsController_resume"];
  };
  "/runs/crons/{cron_id}/runs": {
    parameters: {
    };
    get: operations["CronsController_runs"];
  };
  "/runs/crons/{cron_id}/trigger": {
    parameters: {
    };
    post: operations["CronsController_trigger"];
  };
  "/runs/crons/count": {
    parameters: {
    };
    post: operations["CronsController_count"];
  };
  "/runs/crons/search": {
    parameters: {
    };
    post: operations["CronsController_search"];
  };
  "/runs/overview": {
    parameters: {
    };
    post: operations["RunSearchController_stats"];
  };
  "/runs/search": {
    parameters: {
    };
    post: operations["RunSearchController_search"];
  };
  "/runs/stream": {
    parameters: {
    };
    post: operations["StatelessRunsController_stream"];
  };
  "/runs/wait": {
    parameters: {
    };
    post: operations["StatelessRunsController_wait"];
  };
  "/store/items": {
    parameters: {
    };
    get: operations["StoreController_get"];
    put: operations["StoreController_put"];
    delete: operations["StoreController_delete"];
  };
  "/store/items/search": {
    parameters: {
    };
    post: operations["StoreController_search"];
  };
  "/store/namespaces": {
    parameters: {
    };
    post: operations["StoreController_namespaces"];
  };
  "/system/findings": {
    parameters: {
    };
    get: operations["FindingsController_readFindings"];
  };
  "/threads": {
    parameters: {
    };
    post: operations["ThreadsController_create"];
  };
  "/threads/{thread_id}": {
    parameters: {
    };
    get: operations["ThreadsController_get"];
    delete: operations["ThreadsController_delete"];
    patch: operations["ThreadsController_patch"];
  };
  "/threads/{thread_id}/commands": {
    parameters: {
    };
    post: operations["EventProtocolController_command"];
  };
  "/threads/{thread_id}/copy": {
    parameters: {
    };
    post: operations["ThreadsController_copy"];
  };
  "/threads/{thread_id}/history": {
    parameters: {
    };
    get: operations["ThreadsController_historyByQuery"];
    post: operations["ThreadsController_history"];
  };
  "/threads/{thread_id}/runs": {
    parameters: {
    };
    get: operations["RunsController_list"];
    post: operations["RunsController_create"];
  };
  "/threads/{thread_id}/runs/{run_id}": {
    parameters: {
    };
    get: operations["RunsController_get"];
    delete: operations["RunsController_delete"];
  };
  "/threads/{thread_id}/runs/{run_id}/cancel": {
    parameters: {
    };
    post: operations["RunsController_cancel"];
  };
  "/threads/{thread_id}/runs/{run_id}/join": {
    parameters: {
    };
    get: operations["RunsController_join"];
  };
  "/threads/{thread_id}/runs/{run_id}/stream": {
    parameters: {
    };
    get: operations["RunsController_joinStream"];
  };
  "/threads/{thread_id}/runs/crons": {
    parameters: {
    };
    post: operations["CronsController_createForThread"];
  };
  "/threads/{thread_id}/runs/stream": {
    parameters: {
    };
    post: operations["RunsController_stream"];
  };
  "/threads/{thread_id}/runs/wait": {
    parameters: {
    };
    post: operations["RunsController_wait"];
  };
  "/threads/{thread_id}/state": {
    parameters: {
    };
    get: operations["ThreadsController_state"];
    post: operations["ThreadsController_updateState"];
  };
  "/threads/{thread_id}/state/{checkpoint_id}": {
    parameters: {
    };
    get: operations["ThreadsController_stateAtId"];
  };
  "/threads/{thread_id}/state/checkpoint": {
    parameters: {
    };
    post: operations["ThreadsController_stateAt"];
  };
  "/threads/{thread_id}/storage": {
    parameters: {
    };
    get: operations["ThreadsController_storage"];
  };
  "/threads/{thread_id}/stream": {
    parameters: {
    };
    get: operations["ThreadStreamController_stream"];
  };
  "/threads/{thread_id}/stream/events": {
    parameters: {
    };
    get: operations["EventProtocolController_open"];
    post: operations["EventProtocolController_stream"];
  };
  "/threads/count": {
    parameters: {
    };
    post: operations["ThreadsController_count"];
  };
  "/threads/prune": {
    parameters: {
    };
    post: operations["ThreadsController_prune"];
  };
  "/threads/search": {
    parameters: {
    };
    post: operations["ThreadsController_search"];
  };
  "/ui/{agent}": {
    parameters: {
    };
    post: operations["UiController_load"];
  };
  "/ui/{agent}/{basename}": {
    parameters: {
    };
    get: operations["UiController_file"];
  };
  "/webhooks/deliveries": {
    parameters: {
    };
    get: operations["WebhooksController_list"];
  };
  "/webhooks/deliveries/{delivery_id}": {
    parameters: {
    };
    get: operations["WebhooksController_get"];
  };
  "/webhooks/deliveries/{delivery_id}/redeliver": {
    parameters: {
    };
    post: operations["WebhooksController_redeliver"];
  };
  "/webhooks/test": {
    parameters: {
    };
    post: operations["WebhooksController_test"];
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    A2aAnswer: {
      error?: {
        code: number;
        data?: unknown;
        message: string;
      };
      id: string | number | (null);
      /** @enum {string} */
      jsonrpc: "2.0";
      result?: unknown;
    };
    A2aResult: {
      [key: string]: unknown;
    };
    AgentCard: {
      capabilities: {
        [key: string]: unknown;
      };
      defaultInputModes: string[];
      defaultOutputModes: string[];
      description: string;
      name: string;
      skills: {
        [key: string]: unknown;
      }[];
      supportedInterfaces: ({
        protocolBinding: string;
        protocolVersion: string;
        url: string;
      } & {
        [key: string]: unknown;
      })[];
      version: string;
    } & {
      [key: string]: unknown;
    };
    Assistant: {
      assistant_id: string;
      config: {
        [key: string]: unknown;
      };
      context: {
        [key: string]: unknown;
      };
      created_at: string;
      description: string | null;
      graph_id: string;
      metadata: {
        [key: string]: unknown;
      };
      name: string;
      updated_at: string;
      version: number;
    };
    AssistantVersion: {
      assistant_id: string;
      config: {
        [key: string]: unknown;
      };
      context: {
        [key: string]: unknown;
      };
      created_at: string;
      description: string | null;
      graph_id: string;
      metadata: {
        [key: string]: unknown;
      };
      name: string;
      version: number;
    };
    BulkExport: {
      all_experiments: boolean;
      bulk_export_destination_id: string;
      compression: string;
      cost_type: string;
      created_at: string;
      end_time: string | null;
      error: string | null;
      error_code: string | null;
      error_hint: string | null;
      export_fields: string[] | null;
      filter: string | null;
      finished_at: string | null;
      format: string;
      format_version: string;
      id: string;
      interval_hours: number | null;
      late_data: string;
      late_pass_of: string | null;
      progress: components["schemas"]["BulkExportProgress"];
      session_id: string | null;
      source_bulk_export_id: string | null;
      start_time: string;
      /** @enum {string} */
      status: "Created" | "IntervalScheduled" | "Running" | "Completed" | "Failed" | "Cancelled" | "TimedOut";
      tenant_id: string;
      updated_at: string;
      verified_at: string | null;
    };
    BulkExportDestination: {
      config: {
        include_bucket_in_prefix: boolean;
        prefix: string;
      } & {
        [key: string]: unknown;
      };
      created_at: string;
      credentials_keys: string[];
      /** @enum {string} */
      destination_type: "s3" | "gcs" | "azure_blob";
      display_name: string;
      id: string;
      tenant_id: string;
      updated_at: string;
    };
    BulkExportDestinationTest: {
      checks: {
        consequence: string | null;
        error: string | null;
        error_code: string | null;
        error_hint: string | null;
        /** @enum {string} */
        operation: "write" | "read" | "delete";
        permission: string | null;
        required: boolean;
        /** @enum {string} */
        state: "passed" | "failed" | "skipped";
      }[];
      complete: boolean;
      destination_id: string;
      usable: boolean;
    };
    BulkExportManifest: {
      all_experiments?: boolean;
      bytes: number;
      compression: string;
      cost_type: string;
      end_time: string | null;
      export_id: string;
      filter: string | null;
      format: string;
      format_version: string;
      late_pass: {
        changed_after: string | null;
        of: string;
      } | null;
      leftover_files: string[];
      not_verified: string[];
      partitions: {
        bytes: number;
        day: string;
        end_time: string;
        files: {
          bytes: number;
          first: {
            id: string;
            start_time: string;
          };
          last: {
            id: string;
            start_time: string;
          };
          md5: string;
          path: string;
          rows: number;
        }[];
        rows: number;
        rows_in_source: number | null;
        session_id?: string;
        start_time: string;
        verified: boolean;
      }[];
      received_until: string | null;
      row_counts_verified: boolean;
      rows: number;
      schema: {
        name: string;
        type: string;
      }[];
      session_id: string | null;
      sizes_verified: boolean;
      start_time: string;
      tenant_id: string;
      version: number;
    };
    BulkExportPreview: {
      bytes: number;
      columns: {
        name: string;
        nullable: boolean;
        type: string;
      }[];
      columns_left_out: string[];
      compression: string | null;
      file: string;
      row_groups: number;
      rows: {
        [key: string]: string | number | boolean | (null);
      }[];
      rows_total: number;
    };
    BulkExportProgress: {
      bytes_per_second: number | null;
      bytes_written: number;
      heartbeat_at: string | null;
      is_stalled: boolean;
      partitions_done: number;
      partitions_running: number;
      partitions_stalled: number;
      partitions_total: number;
      rows_per_second: number | null;
      rows_total: number;
      rows_written: number;
      seconds_left: number | null;
    };
    BulkExportRun: {
      bulk_export_id: string;
      created_at: string;
      end_time: string;
      error_code: string | null;
      error_hint: string | null;
      errors: {
        [key: string]: string;
      } | null;
      finished_at: string | null;
      heartbeat_at: string | null;
      id: string;
      is_stalled: boolean;
      metadata: {
        end_time: string;
        prefix: string;
        result: {
          bytes_written: number;
          export_path: string;
          export_url: string;
          exported_files: string[];
          latest_cursor: string | null;
          rows_total: number;
          rows_written: number;
          verified: boolean | null;
        };
        start_time: string;
      };
      retry_number: number;
      rows_written: number;
      session_id: string;
      start_time: string;
      /** @enum {string} */
      status: "Created" | "Running" | "Completed" | "Failed" | "Cancelled" | "TimedOut";
      updated_at: string;
    };
    BulkExportVerification: {
      bytes: number;
      checksums: boolean;
      export_id: string;
      files: number;
      problems: {
        path: string;
        problem: string;
      }[];
      rows: number;
      verified: boolean;
    };
    Cron: {
      assistant_id: string;
      /** @enum {string} */
      catchup: "latest" | "all" | "skip";
      consecutive_failures: number;
      created_at: string;
      cron_id: string;
      enabled: boolean;
      end_time: string | null;
      last_failure: {
        error: string;
        failed_at: string;
        run_id: string | null;
        scheduled_at: string;
      } | null;
      last_run: components["schemas"]["CronRun"] | null;
      metadata: {
        [key: string]: unknown;
      };
      next_run_date: string | null;
      /** @enum {string|null} */
      on_run_completed: "delete" | "keep" | null;
      /** @enum {string} */
      overlap: "allow" | "skip";
      payload: {
        [key: string]: unknown;
      };
      schedule: string;
      /** @enum {string} */
      status: "active" | "paused" | "stopped";
      status_reason: string | null;
      thread_id: string | null;
      timezone: string | null;
      updated_at: string;
      user_id: string;
    };
    CronBackfill: {
      already_fired: number;
      cron_id: string;
      runs: components["schemas"]["CronRun"][];
      ticks: number;
    };
    CronRun: {
      cron_id: string;
      ended_at: string | null;
      error: string | null;
      fired_at: string | null;
      missed_ticks: number;
      run_id: string | null;
      scheduled_at: string;
      /** @enum {string} */
      status: "pending" | "started" | "success" | "error" | "timeout" | "interrupted" | "failed" | "skipped" | "running" | "deleted";
      thread_id: string | null;
      /** @enum {string} */
      trigger: "schedule" | "manual" | "backfill";
    };
    FoundItems: {
      items: components["schemas"]["SearchItem"][];
    };
    FoundRun: {
      assistant_id: string;
      attempts: number;
      cancel_reason: string | null;
      created_at: string;
      ended_at: string | null;
      error: {
        error: string;
        message: string;
      } | null;
      graph_id: string;
      metadata: {
        [key: string]: unknown;
      };
      run_id: string;
      started_at: string | null;
      /** @enum {string} */
      status: "pending" | "running" | "success" | "error" | "timeout" | "interrupted";
      thread_id: string;
    };
    FoundThread: {
      config?: {
        [key: string]: unknown;
      };
      context?: unknown;
      created_at?: string;
      error?: {
        [key: string]: unknown;
      } | null;
      extracted?: {
        [key: string]: unknown;
      };
      interrupts?: {
        [key: string]: unknown[];
      };
      metadata?: {
        [key: string]: unknown;
      };
      state_updated_at?: string;
      /** @enum {string} */
      status?: "idle" | "busy" | "interrupted" | "error";
      thread_id?: string;
      ttl?: {
        expires_at: string;
        /** @enum {string} */
        strategy: "delete" | "keep_latest";
        ttl_minutes: number;
      } | null;
      updated_at?: string;
      values?: unknown;
    };
    GraphSchemas: {
      config_schema: {
        [key: string]: unknown;
      } | null;
      context_schema: {
        [key: string]: unknown;
      } | null;
      graph_id: string;
      input_schema: {
        [key: string]: unknown;
      } | null;
      output_schema: {
        [key: string]: unknown;
      } | null;
      state_schema: {
        [key: string]: unknown;
      } | null;
    };
    Item: {
      created_at: string;
      key: string;
      namespace: string[];
      updated_at: string;
      value: {
        [key: string]: unknown;
      };
    };
    Namespaces: {
      namespaces: string[][];
    };
    ProtectedResourceMetadata: {
      authorization_servers: string[];
      bearer_methods_supported: string[];
      resource: string;
      resource_name: string;
      scopes_supported?: string[];
    };
    ProtocolReply: {
      error?: string;
      id: number | null;
      message?: string;
      result?: {
        [key: string]: unknown;
      };
      /** @enum {string} */
      type: "success" | "error";
    } & {
      [key: string]: unknown;
    };
    PrunedThreads: {
      pruned_count: number;
    };
    Run: {
      assistant_id: string;
      cancel_reason: string | null;
      created_at: string;
      kwargs: {
        [key: string]: unknown;
      };
      langsmith_session_name: string | null;
      metadata: {
        [key: string]: unknown;
      };
      multitask_strategy: string;
      run_id: string;
      /** @enum {string} */
      status: "pending" | "running" | "success" | "error" | "timeout" | "interrupted";
      thread_id: string;
      updated_at: string;
    };
    RunResult: {
      __error__?: {
        error: string;
        message: string;
      };
      __interrupt__?: unknown[];
    } & {
      [key: string]: unknown;
    };
    RunStats: {
      bucket_seconds: number;
      buckets: {
        at: string;
        created: number;
        duration_ms_p50: number | null;
        duration_ms_p95: number | null;
        error: number;
        interrupted: number;
        success: number;
        wait_ms_p50: number | null;
        wait_ms_p95: number | null;
      }[];
      oldest_pending_at: string | null;
      pending: number;
      running: number;
    };
    SearchItem: {
      created_at: string;
      key: string;
      namespace: string[];
      score: number | null;
      updated_at: string;
      value: {
        [key: string]: unknown;
      };
    };
    Thread: {
      config: {
        [key: string]: unknown;
      };
      created_at: string;
      error: {
        [key: string]: unknown;
      } | null;
      interrupts: {
        [key: string]: unknown[];
      };
      metadata: {
        [key: string]: unknown;
      };
      state_updated_at: string;
      /** @enum {string} */
      status: "idle" | "busy" | "interrupted" | "error";
      thread_id: string;
      ttl?: {
        expires_at: string;
        /** @enum {string} */
        strategy: "delete" | "keep_latest";
        ttl_minutes: number;
      } | null;
      updated_at: string;
      values: unknown;
    };
    ThreadStorage: {
      channel_values: {
        by_channel: {
          [key: string]: {
            bytes: number;
            versions: number;
          };
        };
        bytes: number;
        count: number;
      };
      checkpoints: {
        bytes: number;
        count: number;
      };
      pending_writes: {
        bytes: number;
        count: number;
      };
      thread_id: string;
      total_bytes: number;
    };
    UpdatedState: {
      checkpoint: {
        [key: string]: unknown;
      };
      checkpoint_id: string;
      configurable: {
        [key: string]: unknown;
      };
    };
    WebhookAttempt: {
      attempt: number;
      duration_ms: number | null;
      error: string | null;
      max_attempts: number;
      next_attempt_at: string | null;
      /** @enum {string|null} */
      outcome: "delivered" | "client_error" | "server_error" | "redirect_refused" | "gone" | "timeout" | "connection_error" | "tls_error" | "dns_error" | "blocked_address" | "refused_url" | "disabled" | "worker_lost" | null;
      planned_at: string;
      request_headers: {
        [key: string]: string;
      };
      response_code: number | null;
      response_excerpt: string | null;
      signed_with: string[];
      started_at: string;
    };
    WebhookDelivery: {
      attempt_count: number;
      body_bytes: number;
      body_sha256: string;
      created_at: string;
      delivery_id: string;
      export_id: string | null;
      finished_at: string | null;
      host: string;
      /** @enum {string} */
      kind: "run" | "test" | "export" | "a2a";
      last_error: string | null;
      /** @enum {string|null} */
      last_outcome: "delivered" | "client_error" | "server_error" | "redirect_refused" | "gone" | "timeout" | "connection_error" | "tls_error" | "dns_error" | "blocked_address" | "refused_url" | "disabled" | "worker_lost" | null;
      last_response_code: number | null;
      max_attempts: number;
      next_attempt_at: string | null;
      replay_of: string | null;
      run_id: string | null;
      /** @enum {string} */
      status: "pending" | "delivered" | "failed" | "cancelled";
      thread_id: string | null;
      url: string;
      webhook_id: string;
    };
    WebhookDeliveryDetail: {
      attempt_count: number;
      attempts: components["schemas"]["WebhookAttempt"][];
      body_bytes: number;
      body_sha256: string;
      created_at: string;
      delivery_id: string;
      export_id: string | null;
      finished_at: string | null;
      host: string;
      /** @enum {string} */
      kind: "run" | "test" | "export" | "a2a";
      last_error: string | null;
      /** @enum {string|null} */
      last_outcome: "delivered" | "client_error" | "server_error" | "redirect_refused" | "gone" | "timeout" | "connection_error" | "tls_error" | "dns_error" | "blocked_address" | "refused_url" | "disabled" | "worker_lost" | null;
      last_response_code: number | null;
      max_attempts: number;
      next_attempt_at: string | null;
      replay_of: string | null;
      run_id: string | null;
      /** @enum {string} */
      status: "pending" | "delivered" | "failed" | "cancelled";
      thread_id: string | null;
      url: string;
      webhook_id: string;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  "SystemController_ok[1]": {
    parameters: {
      query?: {
        check_db?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            ok: boolean;
            services?: {
              [key: string]: "healthy" | "unhealthy" | "skipped";
            };
          };
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  A2aController_wellKnownCard: {
    parameters: {
      query?: {
        assistant_id?: string;
      };
      header?: {
        "A2A-Version"?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["AgentCard"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  OAuthController_server: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ProtectedResourceMetadata"];
        };
      };
      404: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  OAuthController_mcp: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ProtectedResourceMetadata"];
        };
      };
      404: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  "A2aController_card[0]": {
    parameters: {
      header?: {
        "A2A-Version"?: string;
      };
      path: {
        assistant_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["AgentCard"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  A2aController_call: {
    parameters: {
      header?: {
        "A2A-Version"?: string;
      };
      path: {
        assistant_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          id?: string | number | null;
          /** @constant */
          jsonrpc: "2.0";
          /** @enum {string} */
          method: "SendMessage" | "SendStreamingMessage" | "GetTask" | "ListTasks" | "CancelTask" | "SubscribeToTask" | "CreateTaskPushNotificationConfig" | "GetTaskPushNotificationConfig" | "ListTaskPushNotificationConfigs" | "DeleteTaskPushNotificationConfig" | "GetExtendedAgentCard" | "message/send" | "message/stream" | "tasks/get" | "tasks/cancel" | "tasks/resubscribe" | "tasks/pushNotificationConfig/set" | "tasks/pushNotificationConfig/get" | "tasks/pushNotificationConfig/list" | "tasks/pushNotificationConfig/delete" | "agent/getAuthenticatedExtendedCard";
          params?: {
            [key: string]: unknown;
          };
        } | {
          id?: string | number | null;
          /** @constant */
          jsonrpc: "2.0";
          /** @enum {string} */
          method: "SendMessage" | "SendStreamingMessage" | "GetTask" | "ListTasks" | "CancelTask" | "SubscribeToTask" | "CreateTaskPushNotificationConfig" | "GetTaskPushNotificationConfig" | "ListTaskPushNotificationConfigs" | "DeleteTaskPushNotificationConfig" | "GetExtendedAgentCard" | "message/send" | "message/stream" | "tasks/get" | "tasks/cancel" | "tasks/resubscribe" | "tasks/pushNotificationConfig/set" | "tasks/pushNotificationConfig/get" | "tasks/pushNotificationConfig/list" | "tasks/pushNotificationConfig/delete" | "agent/getAuthenticatedExtendedCard";
          params?: {
            [key: string]: unknown;
          };
        }[];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["A2aAnswer"] | components["schemas"]["A2aAnswer"][];
        };
      };
      202: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  "A2aController_card[1]": {
    parameters: {
      header?: {
        "A2A-Version"?: string;
      };
      path: {
        assistant_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["AgentCard"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  "A2aController_card[2]": {
    parameters: {
      header?: {
        "A2A-Version"?: string;
      };
      path: {
        assistant_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["AgentCard"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  A2aRestController_sendMessage: {
    parameters: {
      header?: {
        "A2A-Version"?: string;
      };
      path: {
        assistant_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          configuration?: ({
            acceptedOutputModes?: string[] | null;
            historyLength?: number | null;
            returnImmediately?: boolean | null;
            taskPushNotificationConfig?: ({
              authentication?: ({
                credentials?: string | null;
                scheme: string;
              } & {
                [key: string]: unknown;
              }) | null;
              id?: string | null;
              taskId?: string | null;
              tenant?: string | null;
              token?: string | null;
              url: string;
            } & {
              [key: string]: unknown;
            }) | null;
          } & {
            [key: string]: unknown;
          }) | null;
          message: {
            contextId?: string | null;
            extensions?: string[] | null;
            messageId: string;
            metadata?: {
              [key: string]: unknown;
            } | null;
            parts: ({
              data?: unknown;
              filename?: string | null;
              mediaType?: string | null;
              metadata?: {
                [key: string]: unknown;
              } | null;
              raw?: string | null;
              text?: string | null;
              url?: string | null;
            } & {
              [key: string]: unknown;
            })[];
            referenceTaskIds?: string[] | null;
            /** @enum {string} */
            role: "ROLE_USER" | "ROLE_AGENT";
            taskId?: string | null;
          } & {
            [key: string]: unknown;
          };
          metadata?: {
            [key: string]: unknown;
          } | null;
          tenant?: string | null;
        } & {
          [key: string]: unknown;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["A2aResult"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  A2aRestController_streamMessage: {
    parameters: {
      header?: {
        "A2A-Version"?: string;
      };
      path: {
        assistant_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          configuration?: ({
            acceptedOutputModes?: string[] | null;
            historyLength?: number | null;
            returnImmediately?: boolean | null;
            taskPushNotificationConfig?: ({
              authentication?: ({
                credentials?: string | null;
                scheme: string;
              } & {
                [key: string]: unknown;
              }) | null;
              id?: string | null;
              taskId?: string | null;
              tenant?: string | null;
              token?: string | null;
              url: string;
            } & {
              [key: string]: unknown;
            }) | null;
          } & {
            [key: string]: unknown;
          }) | null;
          message: {
            contextId?: string | null;
            extensions?: string[] | null;
            messageId: string;
            metadata?: {
              [key: string]: unknown;
            } | null;
            parts: ({
              data?: unknown;
              filename?: string | null;
              mediaType?: string | null;
              metadata?: {
                [key: string]: unknown;
              } | null;
              raw?: string | null;
              text?: string | null;
              url?: string | null;
            } & {
              [key: string]: unknown;
            })[];
            referenceTaskIds?: string[] | null;
            /** @enum {string} */
            role: "ROLE_USER" | "ROLE_AGENT";
            taskId?: string | null;
          } & {
            [key: string]: unknown;
          };
          metadata?: {
            [key: string]: unknown;
          } | null;
          tenant?: string | null;
        } & {
          [key: string]: unknown;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/event-stream": string;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  A2aRestController_listTasks: {
    parameters: {
      query?: {
        contextId?: string;
        historyLength?: number;
        includeArtifacts?: boolean;
        pageSize?: number;
        pageToken?: string;
        status?: string;
        statusTimestampAfter?: string;
      };
      header?: {
        "A2A-Version"?: string;
      };
      path: {
        assistant_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["A2aResult"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  A2aRestController_getTask: {
    parameters: {
      query?: {
        historyLength?: number;
      };
      header?: {
        "A2A-Version"?: string;
      };
      path: {
        assistant_id: string;
        task_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["A2aResult"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  A2aRestController_cancelTask: {
    parameters: {
      header?: {
        "A2A-Version"?: string;
      };
      path: {
        assistant_id: string;
        task_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["A2aResult"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  A2aRestController_subscribeToTask: {
    parameters: {
      header?: {
        "A2A-Version"?: string;
      };
      path: {
        assistant_id: string;
        task_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/event-stream": string;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  A2aRestController_subscribeByPost: {
    parameters: {
      header?: {
        "A2A-Version"?: string;
      };
      path: {
        assistant_id: string;
        task_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/event-stream": string;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  A2aRestController_listPushConfigs: {
    parameters: {
      header?: {
        "A2A-Version"?: string;
      };
      path: {
        assistant_id: string;
        task_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["A2aResult"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  A2aRestController_createPushConfig: {
    parameters: {
      header?: {
        "A2A-Version"?: string;
      };
      path: {
        assistant_id: string;
        task_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          authentication?: ({
            credentials?: string | null;
            scheme: string;
          } & {
            [key: string]: unknown;
          }) | null;
          id?: string | null;
          taskId: string;
          tenant?: string | null;
          token?: string | null;
          url: string;
        } & {
          [key: string]: unknown;
        };
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["A2aResult"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  A2aRestController_getPushConfig: {
    parameters: {
      header?: {
        "A2A-Version"?: string;
      };
      path: {
        assistant_id: string;
        config_id: string;
        task_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["A2aResult"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  A2aRestController_deletePushConfig: {
    parameters: {
      header?: {
        "A2A-Version"?: string;
      };
      path: {
        assistant_id: string;
        config_id: string;
        task_id: string;
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AuditController_search: {
    parameters: {
      query?: {
        action?: "create" | "update" | "delete" | "cancel" | "revoke" | "retry" | "trigger" | "backfill" | "prune" | "refuse";
        actor_id?: string;
        before?: string;
        limit?: number;
        resource?: string;
        resource_id?: string;
        since?: string;
        tenant_id?: string;
        until?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            action: string;
            actor: {
              address: string | null;
              id: string | null;
              kind: string;
            };
            at: string;
            audit_id: string;
            changed: string[] | null;
            item: {
              key: string;
              namespace: string[];
            } | null;
            reason: string | null;
            resource: string;
            resource_id: string | null;
            tenant_id: string | null;
          }[];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AdminController_listKeys: {
    parameters: {
      query?: {
        limit?: number;
        offset?: number;
        tenant_id?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            created_at: string;
            expires_at: string | null;
            hint: string;
            key_id: string;
            last_used_at: string | null;
            name: string;
            revoked_at: string | null;
            tenant_id: string;
          }[];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AdminController_createKey: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          expires_at?: string;
          name: string;
          tenant_id: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            created_at: string;
            expires_at: string | null;
            hint: string;
            key: string;
            key_id: string;
            last_used_at: string | null;
            name: string;
            revoked_at: string | null;
            tenant_id: string;
          };
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AdminController_revokeKey: {
    parameters: {
      path: {
        key_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            created_at: string;
            expires_at: string | null;
            hint: string;
            key_id: string;
            last_used_at: string | null;
            name: string;
            revoked_at: string | null;
            tenant_id: string;
          };
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AdminController_listTenants: {
    parameters: {
      query?: {
        limit?: number;
        offset?: number;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            created_at: string;
            entitlements: {
              [key: string]: boolean;
            };
            name: string;
            tenant_id: string;
          }[];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AdminController_createTenant: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          name: string;
          tenant_id?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            created_at: string;
            entitlements: {
              [key: string]: boolean;
            };
            name: string;
            tenant_id: string;
          };
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AdminController_getTenant: {
    parameters: {
      path: {
        tenant_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            created_at: string;
            entitlements: {
              [key: string]: boolean;
            };
            name: string;
            tenant_id: string;
          };
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AdminController_patchTenant: {
    parameters: {
      path: {
        tenant_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          entitlements?: {
            [key: string]: boolean;
          };
          name?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            created_at: string;
            entitlements: {
              [key: string]: boolean;
            };
            name: string;
            tenant_id: string;
          };
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AttachmentsController_read: {
    parameters: {
      query: {
        expires: number;
        signature: string;
      };
      path: {
        name: string;
        run_id: string;
        tenant_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ExportsController_list: {
    parameters: {
      query?: {
        limit?: number;
        offset?: number;
        source_bulk_export_id?: string;
        status?: "Created" | "IntervalScheduled" | "Running" | "Completed" | "Failed" | "Cancelled" | "TimedOut";
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExport"][];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ExportsController_create: {
    parameters: {
      header?: {
        "Idempotency-Key"?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          /** @default false */
          all_experiments?: boolean;
          bulk_export_destination_id: string;
          /**
           * @default zstandard
           * @enum {string}
           */
          compression?: "none" | "gzip" | "snappy" | "zstandard";
          /**
           * @default double
           * @enum {string}
           */
          cost_type?: "double" | "decimal";
          end_time?: string;
          export_fields?: string[];
          filter?: string;
          /**
           * @default Parquet
           * @enum {string}
           */
          format?: "Parquet";
          /**
           * @default v2_beta
           * @enum {string}
           */
          format_version?: "v1" | "v2_beta";
          interval_hours?: number;
          /**
           * @default ignore
           * @enum {string}
           */
          late_data?: "ignore" | "reexport";
          session_id?: string | null;
          start_time: string;
          webhook?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExport"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ExportsController_get: {
    parameters: {
      path: {
        export_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExport"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ExportsController_cancel: {
    parameters: {
      path: {
        export_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          /**
           * @default Cancelled
           * @enum {string}
           */
          status?: "Cancelled";
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExport"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ExportsController_manifest: {
    parameters: {
      path: {
        export_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExportManifest"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ExportsController_watch: {
    parameters: {
      path: {
        export_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/event-stream": string;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ExportsController_retry: {
    parameters: {
      path: {
        export_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExport"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ExportsController_listRuns: {
    parameters: {
      query?: {
        limit?: number;
        offset?: number;
      };
      path: {
        export_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExportRun"][];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ExportsController_getRun: {
    parameters: {
      path: {
        export_id: string;
        run_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExportRun"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ExportsController_previewFile: {
    parameters: {
      query?: {
        file?: string;
        rows?: number;
      };
      path: {
        export_id: string;
        run_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExportPreview"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ExportsController_retryRun: {
    parameters: {
      path: {
        export_id: string;
        run_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExportRun"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ExportsController_verify: {
    parameters: {
      path: {
        export_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          /** @default false */
          checksums?: boolean;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExportVerification"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  DestinationsController_list: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExportDestination"][];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  DestinationsController_create: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          aws_role_arn?: string | null;
          config: {
            aws_role_arn?: string | null;
            bucket_name: string;
            config_kwargs_s3?: {
              /** @enum {string} */
              addressing_style?: "auto" | "virtual" | "path";
              payload_signing_enabled?: boolean;
              /** @enum {string} */
              us_east_1_regional_endpoint?: "regional" | "legacy";
              use_accelerate_endpoint?: boolean;
            } | null;
            endpoint_url?: string | null;
            external_endpoint_url?: string | null;
            /** @default false */
            include_bucket_in_prefix?: boolean;
            prefix: string;
            region?: string | null;
            /**
             * @default runs
             * @enum {string}
             */
            runs_folder?: "runs" | "resource=runs";
            s3_additional_kwargs?: {
              /** @enum {string} */
              ACL?: "private" | "bucket-owner-read" | "bucket-owner-full-control" | "authenticated-read" | "aws-exec-read";
              BucketKeyEnabled?: boolean;
              /** @enum {string} */
              ChecksumAlgorithm?: "CRC32" | "CRC32C" | "SHA1" | "SHA256";
              /** @enum {string} */
              ObjectLockLegalHoldStatus?: "ON" | "OFF";
              /** @enum {string} */
              ObjectLockMode?: "GOVERNANCE" | "COMPLIANCE";
              ObjectLockRetainUntilDate?: string;
              /** @enum {string} */
              ServerSideEncryption?: "AES256" | "aws:kms" | "aws:kms:dsse";
              SSEKMSEncryptionContext?: string;
              SSEKMSKeyId?: string;
              /** @enum {string} */
              StorageClass?: "STANDARD" | "STANDARD_IA" | "ONEZONE_IA" | "INTELLIGENT_TIERING" | "GLACIER_IR" | "REDUCED_REDUNDANCY";
              Tagging?: string;
            } | null;
          };
          credentials?: {
            access_key_id: string;
            secret_access_key: string;
            session_token?: string | null;
          };
          /** @enum {string} */
          destination_type: "s3";
          display_name: string;
        } | {
          config: {
            bucket_name: string;
            endpoint_url?: string | null;
            external_endpoint_url?: string | null;
            /** @default false */
            include_bucket_in_prefix?: boolean;
            prefix: string;
            /**
             * @default runs
             * @enum {string}
             */
            runs_folder?: "runs" | "resource=runs";
          };
          credentials?: {
            service_account_key?: {
              client_email: string;
              private_key: string;
              private_key_id?: string;
              /** @enum {string} */
              type: "service_account";
            } & {
              [key: string]: unknown;
            };
          };
          /** @enum {string} */
          destination_type: "gcs";
          display_name: string;
        } | {
          config: {
            account_name: string;
            container_name: string;
            endpoint_url?: string | null;
            external_endpoint_url?: string | null;
            /** @default false */
            include_bucket_in_prefix?: boolean;
            prefix: string;
            /**
             * @default runs
             * @enum {string}
             */
            runs_folder?: "runs" | "resource=runs";
          };
          credentials: {
            account_key?: string;
            sas_token?: string;
          };
          /** @enum {string} */
          destination_type: "azure_blob";
          display_name: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExportDestination"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  DestinationsController_get: {
    parameters: {
      path: {
        destination_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExportDestination"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  DestinationsController_delete: {
    parameters: {
      path: {
        destination_id: string;
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  DestinationsController_update: {
    parameters: {
      path: {
        destination_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          aws_role_arn?: string;
          credentials?: {
            access_key_id?: string;
            account_key?: string;
            sas_token?: string;
            secret_access_key?: string;
            service_account_key?: {
              client_email: string;
              private_key: string;
              private_key_id?: string;
              /** @enum {string} */
              type: "service_account";
            } & {
              [key: string]: unknown;
            };
            session_token?: string | null;
          };
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExportDestination"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  DestinationsController_test: {
    parameters: {
      path: {
        destination_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExportDestinationTest"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ExportsController_listSpawnedRuns: {
    parameters: {
      query: {
        limit?: number;
        offset?: number;
        source_bulk_export_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["BulkExportRun"][];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  FeedbackController_list: {
    parameters: {
      query?: {
        has_comment?: string;
        has_score?: string;
        key?: string[];
        level?: "run" | "session";
        limit?: number;
        max_created_at?: string | number;
        min_created_at?: string | number;
        offset?: number;
        run?: string[];
        session?: string[];
        source?: string[];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  FeedbackController_create: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          comment?: string | null;
          comparative_experiment_id?: string | null;
          correction?: unknown;
          created_at?: (string | number) | null;
          error?: boolean | null;
          extra?: unknown;
          feedback_config?: unknown;
          feedback_group_id?: string | null;
          feedback_source?: ({
            metadata?: {
              [key: string]: unknown;
            } | null;
            type?: string;
          } & {
            [key: string]: unknown;
          }) | null;
          id?: string;
          key: string;
          modified_at?: (string | number) | null;
          run_id?: string | null;
          score?: (number | boolean) | null;
          session_id?: string | null;
          trace_id?: string | null;
          value?: unknown;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  FeedbackController_read: {
    parameters: {
      path: {
        feedback_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  FeedbackController_delete: {
    parameters: {
      path: {
        feedback_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  FeedbackController_update: {
    parameters: {
      path: {
        feedback_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          comment?: string | null;
          correction?: unknown;
          feedback_config?: unknown;
          score?: (number | boolean) | null;
          value?: unknown;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  PresignedFeedbackController_list: {
    parameters: {
      query: {
        limit?: number;
        offset?: number;
        run_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  PresignedFeedbackController_create: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          expires_at?: (string | number) | null;
          expires_in?: {
            days?: number;
            hours?: number;
            minutes?: number;
          } | null;
          feedback_config?: unknown;
          feedback_key: string;
          id?: string | null;
          run_id: string;
        } | {
          expires_at?: (string | number) | null;
          expires_in?: {
            days?: number;
            hours?: number;
            minutes?: number;
          } | null;
          feedback_config?: unknown;
          feedback_key: string;
          id?: string | null;
          run_id: string;
        }[];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  FeedbackTokensController_follow: {
    parameters: {
      query?: {
        comment?: string;
        correction?: string;
        score?: string;
        value?: string;
      };
      path: {
        token: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  FeedbackTokensController_leave: {
    parameters: {
      path: {
        token: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          comment?: string | null;
          correction?: unknown;
          metadata?: {
            [key: string]: unknown;
          } | null;
          score?: (number | boolean) | null;
          value?: unknown;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  MeController_me: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            entitlements: {
              [key: string]: boolean;
            };
            identity: string | null;
            /** @enum {string} */
            kind: "none" | "api_key" | "user";
            permissions: string[] | null;
            tenant_id: string;
          };
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  OtlpController_traces: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  SharedRunsV1Controller_root: {
    parameters: {
      path: {
        share_token: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  SharedRunsV1Controller_read: {
    parameters: {
      path: {
        run_id: string;
        share_token: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  SharedRunsV1Controller_query: {
    parameters: {
      path: {
        share_token: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          id?: string[];
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunUploadController_post: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          [key: string]: unknown;
        };
      };
    };
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  TraceRunController_read: {
    parameters: {
      query?: {
        exclude_serialized?: string;
        session_id?: string;
        start_time?: string | number;
      };
      path: {
        run_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  TraceIngestController_patch: {
    parameters: {
      path: {
        run_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          [key: string]: unknown;
        };
      };
    };
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunSharesController_read: {
    parameters: {
      path: {
        run_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunSharesController_share: {
    parameters: {
      path: {
        run_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          run_id?: string;
          share_token?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunSharesController_revoke: {
    parameters: {
      path: {
        run_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunUploadController_batch: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          patch?: {
            [key: string]: unknown;
          }[] | null;
          post?: {
            [key: string]: unknown;
          }[] | null;
        };
      };
    };
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  TraceQueryController_delete: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          session_id: string;
          trace_ids: string[];
        };
      };
    };
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunGroupsController_group: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          end_time?: (string | number) | null;
          filter?: string | null;
          /** @enum {string} */
          group_by: "conversation";
          /** @default 10 */
          limit?: number;
          /** @default 0 */
          offset?: number;
          session_id: string;
          start_time?: (string | number) | null;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  TraceIngestController_multipart: {
    parameters: {
    };
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  TraceQueryController_query: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          cursor?: string;
          end_time?: string | number;
          error?: boolean;
          /** @enum {number} */
          execution_order?: 1;
          filter?: string;
          id?: string[];
          is_root?: boolean;
          /** @default 100 */
          limit?: number;
          /**
           * @default desc
           * @enum {string}
           */
          order?: "asc" | "desc";
          parent_run?: string;
          query?: string;
          reference_example?: string[] | string;
          run_type?: string;
          search_filter?: string;
          select?: string[];
          session?: string[];
          start_time?: string | number;
          trace?: string;
          trace_filter?: string;
          tree_filter?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  TraceQueryController_validate: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          filter?: string;
          trace_filter?: string;
          tree_filter?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  TraceQueryController_stats: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          end_time?: string | number;
          error?: boolean;
          /** @enum {number} */
          execution_order?: 1;
          filter?: string;
          group_by?: {
            /** @enum {string} */
            attribute: "name" | "run_type" | "tag" | "metadata";
            /** @default 5 */
            max_groups?: number;
            path?: string;
          };
          id?: string[];
          is_root?: boolean;
          parent_run?: string;
          query?: string;
          reference_example?: string[] | string;
          run_type?: string;
          search_filter?: string;
          select?: string[];
          session?: string[];
          start_time?: string | number;
          trace?: string;
          trace_filter?: string;
          tree_filter?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ProjectsController_list: {
    parameters: {
      query?: {
        id?: string[];
        include_stats?: string;
        limit?: number;
        metadata?: string;
        name?: string;
        name_contains?: string;
        offset?: number;
        reference_dataset?: string[];
        reference_free?: string;
        sort_by?: "name" | "start_time" | "last_run_start_time" | "latency_p50" | "latency_p99" | "error_rate" | "feedback" | "runs_count";
        sort_by_desc?: string;
        stats_start_time?: string | number;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ProjectsController_create: {
    parameters: {
      query?: {
        upsert?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          default_dataset_id?: string | null;
          description?: string | null;
          end_time?: (string | number) | null;
          extra?: {
            [key: string]: unknown;
          } | null;
          id?: string | null;
          longlived_ttl_days?: number | null;
          name: string;
          reference_dataset_id?: string | null;
          start_time?: (string | number) | null;
          tag_value_ids?: string[] | null;
          /** @enum {string|null} */
          trace_tier?: "longlived" | "shortlived" | null;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ProjectsController_deleteMany: {
    parameters: {
      query: {
        session_ids: string[];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ProjectsController_read: {
    parameters: {
      query?: {
        include_stats?: string;
        stats_start_time?: string | number;
      };
      path: {
        project_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ProjectsController_delete: {
    parameters: {
      path: {
        project_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ProjectsController_update: {
    parameters: {
      path: {
        project_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          default_dataset_id?: string | null;
          description?: string | null;
          end_time?: (string | number) | null;
          extra?: {
            [key: string]: unknown;
          } | null;
          longlived_ttl_days?: number | null;
          name?: string | null;
          tag_value_ids?: string[] | null;
          /** @enum {string|null} */
          trace_tier?: "longlived" | "shortlived" | null;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ProjectResolutionsController_resolve: {
    parameters: {
      query: {
        environment?: string;
        id?: string;
        kind: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  SharedRunsController_read: {
    parameters: {
      query?: {
        selects?: string[];
        start_time?: string | number;
      };
      path: {
        run_id: string;
        share_token: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  SharedRunsController_query: {
    parameters: {
      path: {
        share_token: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          /**
           * @default [
           *       "id"
           *     ]
           */
          selects?: string[];
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  TraceQueryV2Controller_read: {
    parameters: {
      query: {
        project_id: string;
        selects?: string[];
        start_time?: string | number;
      };
      path: {
        run_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  SharesController_shareRun: {
    parameters: {
      path: {
        run_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          session_id: string;
          trace_id: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  SharesController_revokeTrace: {
    parameters: {
      path: {
        trace_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          session_id: string;
        };
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  TraceQueryV2Controller_query: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          ai_search?: string;
          cursor?: string;
          filter?: string;
          has_error?: boolean;
          ids?: string[];
          /** @default false */
          include_subtree_usage?: boolean;
          is_root?: boolean;
          max_feedback_modified_at?: string | number;
          max_start_time?: string | number;
          min_feedback_modified_at?: string | number;
          min_start_time?: string | number;
          /** @default 100 */
          page_size?: number;
          project_ids?: string[];
          reference_dataset_id?: string;
          reference_examples?: string[];
          run_type?: string;
          /**
           * @default [
           *       "id"
           *     ]
           */
          selects?: string[];
          sem_filter?: string;
          /**
           * @default DESC
           * @enum {string}
           */
          sort_order?: "ASC" | "DESC";
          trace_filter?: string;
          trace_id?: string;
          tree_filter?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            has_more: boolean;
            items: Record<string, never>[];
            next_cursor: string | null;
          };
          "text/event-stream": string;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ProjectsV2Controller_list: {
    parameters: {
      query?: {
        cursor?: string;
        dataset_version?: string;
        filter?: string;
        id?: string[];
        include_facets?: string;
        include_stats?: string;
        metadata?: string;
        name?: string;
        name_contains?: string;
        page_size?: number;
        reference_dataset_id?: string[];
        sort_by?: "NAME" | "START_TIME" | "LAST_RUN_START_TIME" | "ERROR_RATE" | "LATENCY_P50" | "LATENCY_P99" | "FEEDBACK";
        sort_by_feedback_key?: string;
        sort_by_feedback_source?: "RUN" | "SESSION";
        sort_order?: "asc" | "desc";
        stats_filter?: string;
        stats_select?: string[];
        stats_start_time?: string | number;
        tag_value_id?: string[];
        type?: ("PROJECT" | "AGENT" | "EXPERIMENT")[];
        use_approx_stats?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ProjectsV2Controller_create: {
    parameters: {
      query?: {
        upsert?: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          default_dataset_id?: string | null;
          description?: string | null;
          end_time?: (string | number) | null;
          extra?: {
            [key: string]: unknown;
          } | null;
          id?: string | null;
          longlived_ttl_days?: number | null;
          name: string;
          reference_dataset_id?: string | null;
          start_time?: (string | number) | null;
          tag_value_ids?: string[] | null;
          /** @enum {string} */
          trace_tier?: "LONG_LIVED" | "SHORT_LIVED";
          /** @enum {string} */
          type: "PROJECT" | "AGENT" | "EXPERIMENT";
        };
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ProjectsV2Controller_read: {
    parameters: {
      query?: {
        include_stats?: string;
        stats_start_time?: string | number;
      };
      path: {
        project_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ProjectsV2Controller_update: {
    parameters: {
      path: {
        project_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          default_dataset_id?: string | null;
          description?: string | null;
          end_time?: (string | number) | null;
          extra?: {
            [key: string]: unknown;
          } | null;
          longlived_ttl_days?: number | null;
          name?: string | null;
          tag_value_ids?: string[] | null;
          /** @enum {string} */
          trace_tier?: "LONG_LIVED" | "SHORT_LIVED";
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  SharesController_readThread: {
    parameters: {
      query: {
        project_id: string;
      };
      path: {
        thread_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  SharesController_shareThread: {
    parameters: {
      path: {
        thread_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          project_id: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  SharesController_revokeThread: {
    parameters: {
      query: {
        project_id: string;
      };
      path: {
        thread_id: string;
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  TraceThreadsController_statsOfOne: {
    parameters: {
      query: {
        filter?: string;
        selects?: string[];
        session_id: string;
      };
      path: {
        thread_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  TraceThreadsController_traces: {
    parameters: {
      query: {
        cursor?: string;
        filter?: string;
        page_size?: number;
        project_id: string;
        selects?: string[];
        trace_filter?: string;
        tree_filter?: string;
      };
      path: {
        thread_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  TraceThreadsController_query: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          ai_search?: string;
          cursor?: string;
          filter?: string;
          max_start_time?: string | number;
          min_start_time?: string | number;
          /** @default 100 */
          page_size?: number;
          project_id: string;
          sem_filter?: string;
          thread_filter?: string;
          trace_filter?: string;
          tree_filter?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            has_more: boolean;
            items: Record<string, never>[];
            next_cursor: string | null;
          };
          "text/event-stream": string;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  TraceThreadsController_statsOfAll: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          filter?: string;
          max_start_time?: string | number;
          min_start_time?: string | number;
          project_id: string;
          select: string[];
          stride?: {
            /** @enum {string} */
            unit: "SECOND" | "MINUTE" | "HOUR" | "DAY";
            value: number;
          };
          thread_filter?: string;
          trace_filter?: string;
          tree_filter?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  TraceQueryV2Controller_traceRuns: {
    parameters: {
      query: {
        filter?: string;
        max_start_time?: string | number;
        min_start_time?: string | number;
        project_id: string;
        selects?: string[];
      };
      path: {
        trace_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  TraceQueryV2Controller_queryTraces: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          ai_search?: string;
          cursor?: string;
          max_feedback_modified_at?: string | number;
          max_start_time?: string | number;
          min_feedback_modified_at?: string | number;
          min_start_time?: string | number;
          /** @default 100 */
          page_size?: number;
          project_id: string;
          /**
           * @default [
           *       "id"
           *     ]
           */
          selects?: string[];
          sem_filter?: string;
          trace_filter?: string;
          trace_ids?: string[];
          tree_filter?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            has_more: boolean;
            items: Record<string, never>[];
            next_cursor: string | null;
          };
          "text/event-stream": string;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AssistantsController_create: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          assistant_id?: string;
          config?: {
            configurable?: {
              [key: string]: unknown;
            };
            max_concurrency?: number;
            metadata?: {
              [key: string]: unknown;
            };
            recursion_limit?: number;
            run_name?: string;
            tags?: string[];
          } & {
            [key: string]: unknown;
          };
          context?: {
            [key: string]: unknown;
          };
          description?: string;
          graph_id: string;
          /**
           * @default raise
           * @enum {string}
           */
          if_exists?: "raise" | "do_nothing";
          metadata?: {
            [key: string]: unknown;
          };
          name?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Assistant"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AssistantsController_get: {
    parameters: {
      path: {
        assistant_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Assistant"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AssistantRemovalController_delete: {
    parameters: {
      query?: {
        delete_threads?: string | string[];
      };
      path: {
        assistant_id: string;
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AssistantsController_patch: {
    parameters: {
      path: {
        assistant_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          config?: {
            configurable?: {
              [key: string]: unknown;
            };
            max_concurrency?: number;
            metadata?: {
              [key: string]: unknown;
            };
            recursion_limit?: number;
            run_name?: string;
            tags?: string[];
          } & {
            [key: string]: unknown;
          };
          context?: {
            [key: string]: unknown;
          };
          description?: string;
          graph_id?: string;
          metadata?: {
            [key: string]: unknown;
          };
          name?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Assistant"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AssistantsController_drawGraph: {
    parameters: {
      query?: {
        xray?: string;
      };
      path: {
        assistant_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            edges: {
              [key: string]: unknown;
            }[];
            nodes: {
              [key: string]: unknown;
            }[];
          };
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AssistantsController_setLatest: {
    parameters: {
      path: {
        assistant_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          version: number;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Assistant"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AssistantsController_schemas: {
    parameters: {
      path: {
        assistant_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GraphSchemas"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AssistantsController_subgraphs: {
    parameters: {
      query?: {
        recurse?: string | string[];
      };
      path: {
        assistant_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            [key: string]: {
              [key: string]: {
                [key: string]: unknown;
              } | null;
            };
          };
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AssistantsController_subgraph: {
    parameters: {
      query?: {
        recurse?: string | string[];
      };
      path: {
        assistant_id: string;
        namespace: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            [key: string]: {
              [key: string]: {
                [key: string]: unknown;
              } | null;
            };
          };
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AssistantsController_versions: {
    parameters: {
      path: {
        assistant_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          /** @default 10 */
          limit?: number;
          metadata?: {
            [key: string]: unknown;
          };
          /** @default 0 */
          offset?: number;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["AssistantVersion"][];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AssistantsController_count: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          graph_id?: string;
          metadata?: {
            [key: string]: unknown;
          };
          name?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": number;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  AssistantsController_search: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          graph_id?: string;
          /** @default 10 */
          limit?: number;
          metadata?: {
            [key: string]: unknown;
          };
          name?: string;
          /** @default 0 */
          offset?: number;
          select?: ("assistant_id" | "graph_id" | "name" | "description" | "config" | "context" | "created_at" | "updated_at" | "metadata" | "version")[];
          /**
           * @default created_at
           * @enum {string}
           */
          sort_by?: "assistant_id" | "created_at" | "updated_at" | "name" | "graph_id";
          /**
           * @default desc
           * @enum {string}
           */
          sort_order?: "asc" | "desc";
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            assistant_id?: string;
            config?: {
              [key: string]: unknown;
            };
            context?: {
              [key: string]: unknown;
            };
            created_at?: string;
            description?: string | null;
            graph_id?: string;
            metadata?: {
              [key: string]: unknown;
            };
            name?: string;
            updated_at?: string;
            version?: number;
          }[];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  SystemController_info: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** @enum {string} */
            auth_type: "none" | "api_key" | "custom";
            batch_ingest_config: {
              [key: string]: boolean | number;
            };
            /** @enum {string} */
            context: "js";
            flags: {
              [key: string]: boolean;
            };
            gantry_version: string;
            host: {
              host_revision_id: string | null;
              kind: string;
              project_id: string | null;
              revision_id: string | null;
              tenant_id: string | null;
            };
            instance_flags: {
              [key: string]: boolean;
            };
            temporal_ui: string | null;
            version: string;
          };
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  McpController_get: {
    parameters: {
      header?: {
        "Last-Event-ID"?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/event-stream": string;
        };
      };
      405: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  McpController_post: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          error?: Record<string, never>;
          id?: string | number | null;
          /** @enum {string} */
          jsonrpc: "2.0";
          method?: string;
          params?: Record<string, never>;
          result?: Record<string, never>;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            error?: Record<string, never>;
            id?: string | number | null;
            /** @enum {string} */
            jsonrpc: "2.0";
            method?: string;
            params?: Record<string, never>;
            result?: Record<string, never>;
          };
          "text/event-stream": string;
        };
      };
      202: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  McpController_delete: {
    parameters: {
    };
    responses: {
      405: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  SystemController_metrics: {
    parameters: {
      query?: {
        format?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  "SystemController_ok[0]": {
    parameters: {
      query?: {
        check_db?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            ok: boolean;
            services?: {
              [key: string]: "healthy" | "unhealthy" | "skipped";
            };
          };
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  SharedRunsPageController_page: {
    parameters: {
      path: {
        share_token: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  SystemController_ready: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            ready: boolean;
            reason?: string;
          };
        };
      };
      503: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  StatelessRunsController_create: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          /** @default 0 */
          after_seconds?: number;
          assistant_id: string;
          checkpoint?: {
            checkpoint_id?: string;
            checkpoint_map?: {
              [key: string]: unknown;
            };
            checkpoint_ns?: string;
            thread_id?: string;
          };
          checkpoint_during?: boolean;
          checkpoint_id?: string;
          command?: {
            goto?: (string | {
              args?: unknown;
              input?: unknown;
              node: string;
            } | (string | {
              args?: unknown;
              input?: unknown;
              node: string;
            })[]) | null;
            resume?: unknown;
            update?: ({
              [key: string]: unknown;
            } | (string | unknown)[][]) | null;
          };
          config?: {
            configurable?: {
              [key: string]: unknown;
            };
            max_concurrency?: number;
            metadata?: {
              [key: string]: unknown;
            };
            recursion_limit?: number;
            run_name?: string;
            tags?: string[];
          } & {
            [key: string]: unknown;
          };
          context?: {
            [key: string]: unknown;
          };
          /** @enum {string} */
          durability?: "sync" | "async" | "exit";
          feedback_keys?: string[];
          /**
           * @default reject
           * @enum {string}
           */
          if_not_exists?: "create" | "reject";
          input?: unknown;
          interrupt_after?: "*" | string[];
          interrupt_before?: "*" | string[];
          langsmith_tracer?: {
            example_id?: string;
            project_name?: string;
          };
          metadata?: {
            [key: string]: unknown;
          };
          /**
           * @default enqueue
           * @enum {string}
           */
          multitask_strategy?: "reject" | "rollback" | "interrupt" | "enqueue";
          /**
           * @default delete
           * @enum {string}
           */
          on_completion?: "delete" | "keep";
          /**
           * @default continue
           * @enum {string}
           */
          on_disconnect?: "cancel" | "continue";
          /** @default values */
          stream_mode?: ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools")[];
          /** @default false */
          stream_resumable?: boolean;
          /** @default false */
          stream_subgraphs?: boolean;
          strict_resume?: boolean;
          webhook?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Run"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  StatelessRunsController_get: {
    parameters: {
      path: {
        run_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Run"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  StatelessRunsController_join: {
    parameters: {
      query?: {
        cancel_on_disconnect?: string | string[];
      };
      path: {
        run_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RunResult"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  StatelessRunsController_joinStream: {
    parameters: {
      query?: {
        cancel_on_disconnect?: string | string[];
        checkpoint_id?: string;
        namespace?: string | string[];
        stream_mode?: string | string[];
      };
      path: {
        run_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/event-stream": string;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  StatelessRunsController_createBatch: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          /** @default 0 */
          after_seconds?: number;
          assistant_id: string;
          checkpoint?: {
            checkpoint_id?: string;
            checkpoint_map?: {
              [key: string]: unknown;
            };
            checkpoint_ns?: string;
            thread_id?: string;
          };
          checkpoint_during?: boolean;
          checkpoint_id?: string;
          command?: {
            goto?: (string | {
              args?: unknown;
              input?: unknown;
              node: string;
            } | (string | {
              args?: unknown;
              input?: unknown;
              node: string;
            })[]) | null;
            resume?: unknown;
            update?: ({
              [key: string]: unknown;
            } | (string | unknown)[][]) | null;
          };
          config?: {
            configurable?: {
              [key: string]: unknown;
            };
            max_concurrency?: number;
            metadata?: {
              [key: string]: unknown;
            };
            recursion_limit?: number;
            run_name?: string;
            tags?: string[];
          } & {
            [key: string]: unknown;
          };
          context?: {
            [key: string]: unknown;
          };
          /** @enum {string} */
          durability?: "sync" | "async" | "exit";
          feedback_keys?: string[];
          /**
           * @default reject
           * @enum {string}
           */
          if_not_exists?: "create" | "reject";
          input?: unknown;
          interrupt_after?: "*" | string[];
          interrupt_before?: "*" | string[];
          langsmith_tracer?: {
            example_id?: string;
            project_name?: string;
          };
          metadata?: {
            [key: string]: unknown;
          };
          /**
           * @default enqueue
           * @enum {string}
           */
          multitask_strategy?: "reject" | "rollback" | "interrupt" | "enqueue";
          /**
           * @default delete
           * @enum {string}
           */
          on_completion?: "delete" | "keep";
          /**
           * @default continue
           * @enum {string}
           */
          on_disconnect?: "cancel" | "continue";
          /** @default values */
          stream_mode?: ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools")[];
          /** @default false */
          stream_resumable?: boolean;
          /** @default false */
          stream_subgraphs?: boolean;
          strict_resume?: boolean;
          webhook?: string;
        }[];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Run"][];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  StatelessRunsController_cancelMany: {
    parameters: {
      query?: {
        action?: "interrupt" | "rollback";
      };
    };
    requestBody: {
      content: {
        "application/json": {
          /** @enum {string} */
          status: "pending" | "running" | "all";
        } | {
          run_ids: string[];
          thread_id: string;
        };
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunSearchController_count: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          assistant_id?: string;
          created_after?: string;
          created_before?: string;
          error?: string;
          graph_id?: string;
          metadata?: {
            [key: string]: unknown;
          };
          run_id?: string;
          status?: ("pending" | "running" | "success" | "error" | "timeout" | "interrupted")[];
          thread_id?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": number;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  CronsController_create: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          assistant_id: string;
          /** @enum {string} */
          catchup?: "latest" | "all" | "skip";
          checkpoint_during?: boolean;
          config?: {
            configurable?: {
              [key: string]: unknown;
            };
            max_concurrency?: number;
            metadata?: {
              [key: string]: unknown;
            };
            recursion_limit?: number;
            run_name?: string;
            tags?: string[];
          } & {
            [key: string]: unknown;
          };
          context?: {
            [key: string]: unknown;
          };
          /** @enum {string} */
          durability?: "sync" | "async" | "exit";
          enabled?: boolean;
          end_time?: string | null;
          feedback_keys?: string[];
          input?: unknown;
          interrupt_after?: "*" | string[];
          interrupt_before?: "*" | string[];
          metadata?: {
            [key: string]: unknown;
          };
          /** @enum {string} */
          multitask_strategy?: "reject" | "rollback" | "interrupt" | "enqueue";
          /** @enum {string} */
          on_run_completed?: "delete" | "keep";
          /** @enum {string} */
          overlap?: "allow" | "skip";
          schedule: string;
          stream_mode?: ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools")[];
          stream_resumable?: boolean;
          stream_subgraphs?: boolean;
          timezone?: string | null;
          webhook?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Cron"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  CronsController_get: {
    parameters: {
      path: {
        cron_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Cron"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  CronsController_delete: {
    parameters: {
      path: {
        cron_id: string;
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  CronsController_patch: {
    parameters: {
      path: {
        cron_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          /** @enum {string} */
          catchup?: "latest" | "all" | "skip";
          checkpoint_during?: boolean;
          config?: {
            configurable?: {
              [key: string]: unknown;
            };
            max_concurrency?: number;
            metadata?: {
              [key: string]: unknown;
            };
            recursion_limit?: number;
            run_name?: string;
            tags?: string[];
          } & {
            [key: string]: unknown;
          };
          context?: {
            [key: string]: unknown;
          };
          /** @enum {string} */
          durability?: "sync" | "async" | "exit";
          enabled?: boolean;
          end_time?: string | null;
          feedback_keys?: string[];
          input?: unknown;
          interrupt_after?: "*" | string[];
          interrupt_before?: "*" | string[];
          metadata?: {
            [key: string]: unknown;
          };
          /** @enum {string} */
          multitask_strategy?: "reject" | "rollback" | "interrupt" | "enqueue";
          /** @enum {string} */
          on_run_completed?: "delete" | "keep";
          /** @enum {string} */
          overlap?: "allow" | "skip";
          schedule?: string;
          stream_mode?: ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools")[];
          stream_resumable?: boolean;
          stream_subgraphs?: boolean;
          timezone?: string | null;
          webhook?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Cron"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  CronsController_backfill: {
    parameters: {
      path: {
        cron_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          end: string;
          start: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CronBackfill"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  CronsController_pause: {
    parameters: {
      path: {
        cron_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          reason?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Cron"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  CronsController_resume: {
    parameters: {
      path: {
        cron_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Cron"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  CronsController_runs: {
    parameters: {
      query?: {
        limit?: number;
        offset?: number;
      };
      path: {
        cron_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CronRun"][];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  CronsController_trigger: {
    parameters: {
      path: {
        cron_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CronRun"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  CronsController_count: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          assistant_id?: string;
          enabled?: boolean;
          metadata?: {
            [key: string]: unknown;
          };
          thread_id?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": number;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  CronsController_search: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          assistant_id?: string;
          enabled?: boolean;
          /** @default 10 */
          limit?: number;
          metadata?: {
            [key: string]: unknown;
          };
          /** @default 0 */
          offset?: number;
          select?: ("cron_id" | "assistant_id" | "thread_id" | "user_id" | "schedule" | "timezone" | "end_time" | "payload" | "metadata" | "on_run_completed" | "enabled" | "next_run_date" | "created_at" | "updated_at" | "status" | "status_reason" | "catchup" | "overlap" | "last_run" | "consecutive_failures" | "last_failure" | "now")[];
          /**
           * @default created_at
           * @enum {string}
           */
          sort_by?: "cron_id" | "assistant_id" | "thread_id" | "next_run_date" | "end_time" | "created_at" | "updated_at";
          /**
           * @default desc
           * @enum {string}
           */
          sort_order?: "asc" | "desc";
          thread_id?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            assistant_id?: string;
            /** @enum {string} */
            catchup?: "latest" | "all" | "skip";
            consecutive_failures?: number;
            created_at?: string;
            cron_id?: string;
            enabled?: boolean;
            end_time?: string | null;
            last_failure?: {
              error: string;
              failed_at: string;
              run_id: string | null;
              scheduled_at: string;
            } | null;
            last_run?: components["schemas"]["CronRun"] | null;
            metadata?: {
              [key: string]: unknown;
            };
            next_run_date?: string | null;
            /** @enum {string|null} */
            on_run_completed?: "delete" | "keep" | null;
            /** @enum {string} */
            overlap?: "allow" | "skip";
            payload?: {
              [key: string]: unknown;
            };
            schedule?: string;
            /** @enum {string} */
            status?: "active" | "paused" | "stopped";
            status_reason?: string | null;
            thread_id?: string | null;
            timezone?: string | null;
            updated_at?: string;
            user_id?: string;
          }[];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunSearchController_stats: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          assistant_id?: string;
          /** @default 48 */
          buckets?: number;
          /** @default 24 */
          hours?: number;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RunStats"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunSearchController_search: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          assistant_id?: string;
          before?: string;
          created_after?: string;
          created_before?: string;
          error?: string;
          graph_id?: string;
          /** @default 100 */
          limit?: number;
          metadata?: {
            [key: string]: unknown;
          };
          run_id?: string;
          status?: ("pending" | "running" | "success" | "error" | "timeout" | "interrupted")[];
          thread_id?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["FoundRun"][];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  StatelessRunsController_stream: {
    parameters: {
      query?: {
        namespace?: string | string[];
      };
    };
    requestBody: {
      content: {
        "application/json": {
          /** @default 0 */
          after_seconds?: number;
          assistant_id: string;
          checkpoint?: {
            checkpoint_id?: string;
            checkpoint_map?: {
              [key: string]: unknown;
            };
            checkpoint_ns?: string;
            thread_id?: string;
          };
          checkpoint_during?: boolean;
          checkpoint_id?: string;
          command?: {
            goto?: (string | {
              args?: unknown;
              input?: unknown;
              node: string;
            } | (string | {
              args?: unknown;
              input?: unknown;
              node: string;
            })[]) | null;
            resume?: unknown;
            update?: ({
              [key: string]: unknown;
            } | (string | unknown)[][]) | null;
          };
          config?: {
            configurable?: {
              [key: string]: unknown;
            };
            max_concurrency?: number;
            metadata?: {
              [key: string]: unknown;
            };
            recursion_limit?: number;
            run_name?: string;
            tags?: string[];
          } & {
            [key: string]: unknown;
          };
          context?: {
            [key: string]: unknown;
          };
          /** @enum {string} */
          durability?: "sync" | "async" | "exit";
          feedback_keys?: string[];
          /**
           * @default reject
           * @enum {string}
           */
          if_not_exists?: "create" | "reject";
          input?: unknown;
          interrupt_after?: "*" | string[];
          interrupt_before?: "*" | string[];
          langsmith_tracer?: {
            example_id?: string;
            project_name?: string;
          };
          metadata?: {
            [key: string]: unknown;
          };
          /**
           * @default enqueue
           * @enum {string}
           */
          multitask_strategy?: "reject" | "rollback" | "interrupt" | "enqueue";
          /**
           * @default delete
           * @enum {string}
           */
          on_completion?: "delete" | "keep";
          /**
           * @default continue
           * @enum {string}
           */
          on_disconnect?: "cancel" | "continue";
          /** @default values */
          stream_mode?: ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools")[];
          /** @default false */
          stream_resumable?: boolean;
          /** @default false */
          stream_subgraphs?: boolean;
          strict_resume?: boolean;
          webhook?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/event-stream": string;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  StatelessRunsController_wait: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          /** @default 0 */
          after_seconds?: number;
          assistant_id: string;
          checkpoint?: {
            checkpoint_id?: string;
            checkpoint_map?: {
              [key: string]: unknown;
            };
            checkpoint_ns?: string;
            thread_id?: string;
          };
          checkpoint_during?: boolean;
          checkpoint_id?: string;
          command?: {
            goto?: (string | {
              args?: unknown;
              input?: unknown;
              node: string;
            } | (string | {
              args?: unknown;
              input?: unknown;
              node: string;
            })[]) | null;
            resume?: unknown;
            update?: ({
              [key: string]: unknown;
            } | (string | unknown)[][]) | null;
          };
          config?: {
            configurable?: {
              [key: string]: unknown;
            };
            max_concurrency?: number;
            metadata?: {
              [key: string]: unknown;
            };
            recursion_limit?: number;
            run_name?: string;
            tags?: string[];
          } & {
            [key: string]: unknown;
          };
          context?: {
            [key: string]: unknown;
          };
          /** @enum {string} */
          durability?: "sync" | "async" | "exit";
          feedback_keys?: string[];
          /**
           * @default reject
           * @enum {string}
           */
          if_not_exists?: "create" | "reject";
          input?: unknown;
          interrupt_after?: "*" | string[];
          interrupt_before?: "*" | string[];
          langsmith_tracer?: {
            example_id?: string;
            project_name?: string;
          };
          metadata?: {
            [key: string]: unknown;
          };
          /**
           * @default enqueue
           * @enum {string}
           */
          multitask_strategy?: "reject" | "rollback" | "interrupt" | "enqueue";
          /**
           * @default delete
           * @enum {string}
           */
          on_completion?: "delete" | "keep";
          /**
           * @default continue
           * @enum {string}
           */
          on_disconnect?: "cancel" | "continue";
          /** @default values */
          stream_mode?: ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools")[];
          /** @default false */
          stream_resumable?: boolean;
          /** @default false */
          stream_subgraphs?: boolean;
          strict_resume?: boolean;
          webhook?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RunResult"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  StoreController_get: {
    parameters: {
      query: {
        key: string;
        namespace: string | string[];
        refresh_ttl?: string | string[];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Item"] | null;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  StoreController_put: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          index?: false | string[];
          key: string;
          namespace: string[];
          ttl?: number | null;
          value: {
            [key: string]: unknown;
          };
        };
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  StoreController_delete: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          key: string;
          namespace: string[];
        };
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  StoreController_search: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          filter?: {
            [key: string]: unknown;
          };
          /** @default 10 */
          limit?: number;
          namespace_prefix?: string[];
          /** @default 0 */
          offset?: number;
          query?: string;
          refresh_ttl?: boolean;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["FoundItems"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  StoreController_namespaces: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          /** @default 100 */
          limit?: number;
          max_depth?: number;
          /** @default 0 */
          offset?: number;
          prefix?: string[];
          suffix?: string[];
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Namespaces"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  FindingsController_readFindings: {
    parameters: {
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            checked_at: string;
            findings: {
              detail: string;
              name: string;
              remedy: string | null;
              /** @enum {string} */
              state: "ok" | "warning" | "failure";
            }[];
            ok: boolean;
          };
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ThreadsController_create: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          /**
           * @default raise
           * @enum {string}
           */
          if_exists?: "raise" | "do_nothing";
          metadata?: {
            [key: string]: unknown;
          };
          supersteps?: {
            updates: {
              as_node: string;
              command?: {
                goto?: (string | {
                  args?: unknown;
                  input?: unknown;
                  node: string;
                } | (string | {
                  args?: unknown;
                  input?: unknown;
                  node: string;
                })[]) | null;
                resume?: unknown;
                update?: ({
                  [key: string]: unknown;
                } | (string | unknown)[][]) | null;
              };
              values?: {
                [key: string]: unknown;
              } | unknown[];
            }[];
          }[];
          thread_id?: string;
          ttl?: {
            /**
             * @default delete
             * @enum {string}
             */
            strategy?: "delete" | "keep_latest";
            ttl: number;
          };
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Thread"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ThreadsController_get: {
    parameters: {
      query?: {
        include?: string | string[];
      };
      path: {
        thread_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Thread"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ThreadsController_delete: {
    parameters: {
      path: {
        thread_id: string;
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ThreadsController_patch: {
    parameters: {
      path: {
        thread_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          metadata?: {
            [key: string]: unknown;
          };
          ttl?: {
            /**
             * @default delete
             * @enum {string}
             */
            strategy?: "delete" | "keep_latest";
            ttl: number;
          };
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Thread"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  EventProtocolController_command: {
    parameters: {
      path: {
        thread_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          id: number;
          method: string;
          params?: {
            [key: string]: unknown;
          };
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ProtocolReply"];
        };
      };
      400: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ThreadsController_copy: {
    parameters: {
      path: {
        thread_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Thread"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ThreadsController_historyByQuery: {
    parameters: {
      query?: {
        before?: string;
        limit?: number;
        select?: string | string[];
      };
      path: {
        thread_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            checkpoint?: {
              [key: string]: unknown;
            } | null;
            checkpoint_id?: string | null;
            created_at?: string | null;
            interrupts?: unknown[];
            metadata?: {
              [key: string]: unknown;
            };
            next?: string[];
            parent_checkpoint?: {
              [key: string]: unknown;
            } | null;
            parent_checkpoint_id?: string | null;
            tasks?: {
              checkpoint: {
                [key: string]: unknown;
              } | null;
              error: string | null;
              id: string;
              interrupts: unknown[];
              name: string;
              path: unknown[];
              result: unknown;
              state: {
                [key: string]: unknown;
              } | null;
            }[];
            values?: unknown;
          }[];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ThreadsController_history: {
    parameters: {
      path: {
        thread_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          before?: string | ({
            checkpoint_id: string;
          } & {
            [key: string]: unknown;
          }) | ({
            configurable: {
              checkpoint_id: string;
            } & {
              [key: string]: unknown;
            };
          } & {
            [key: string]: unknown;
          });
          checkpoint?: {
            checkpoint_id?: string;
            checkpoint_map?: {
              [key: string]: unknown;
            };
            checkpoint_ns?: string;
            thread_id?: string;
          };
          /** @default 10 */
          limit?: number;
          metadata?: {
            [key: string]: unknown;
          };
          select?: string[];
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            checkpoint?: {
              [key: string]: unknown;
            } | null;
            checkpoint_id?: string | null;
            created_at?: string | null;
            interrupts?: unknown[];
            metadata?: {
              [key: string]: unknown;
            };
            next?: string[];
            parent_checkpoint?: {
              [key: string]: unknown;
            } | null;
            parent_checkpoint_id?: string | null;
            tasks?: {
              checkpoint: {
                [key: string]: unknown;
              } | null;
              error: string | null;
              id: string;
              interrupts: unknown[];
              name: string;
              path: unknown[];
              result: unknown;
              state: {
                [key: string]: unknown;
              } | null;
            }[];
            values?: unknown;
          }[];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunsController_list: {
    parameters: {
      query?: {
        limit?: number;
        offset?: number;
        select?: string | string[];
        status?: string;
      };
      path: {
        thread_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            assistant_id?: string;
            cancel_reason?: string | null;
            created_at?: string;
            kwargs?: {
              [key: string]: unknown;
            };
            langsmith_session_name?: string | null;
            metadata?: {
              [key: string]: unknown;
            };
            multitask_strategy?: string;
            run_id?: string;
            /** @enum {string} */
            status?: "pending" | "running" | "success" | "error" | "timeout" | "interrupted";
            thread_id?: string;
            updated_at?: string;
          }[];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunsController_create: {
    parameters: {
      path: {
        thread_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          /** @default 0 */
          after_seconds?: number;
          assistant_id: string;
          checkpoint?: {
            checkpoint_id?: string;
            checkpoint_map?: {
              [key: string]: unknown;
            };
            checkpoint_ns?: string;
            thread_id?: string;
          };
          checkpoint_during?: boolean;
          checkpoint_id?: string;
          command?: {
            goto?: (string | {
              args?: unknown;
              input?: unknown;
              node: string;
            } | (string | {
              args?: unknown;
              input?: unknown;
              node: string;
            })[]) | null;
            resume?: unknown;
            update?: ({
              [key: string]: unknown;
            } | (string | unknown)[][]) | null;
          };
          config?: {
            configurable?: {
              [key: string]: unknown;
            };
            max_concurrency?: number;
            metadata?: {
              [key: string]: unknown;
            };
            recursion_limit?: number;
            run_name?: string;
            tags?: string[];
          } & {
            [key: string]: unknown;
          };
          context?: {
            [key: string]: unknown;
          };
          /** @enum {string} */
          durability?: "sync" | "async" | "exit";
          feedback_keys?: string[];
          /**
           * @default reject
           * @enum {string}
           */
          if_not_exists?: "create" | "reject";
          input?: unknown;
          interrupt_after?: "*" | string[];
          interrupt_before?: "*" | string[];
          langsmith_tracer?: {
            example_id?: string;
            project_name?: string;
          };
          metadata?: {
            [key: string]: unknown;
          };
          /**
           * @default enqueue
           * @enum {string}
           */
          multitask_strategy?: "reject" | "rollback" | "interrupt" | "enqueue";
          /**
           * @default delete
           * @enum {string}
           */
          on_completion?: "delete" | "keep";
          /**
           * @default continue
           * @enum {string}
           */
          on_disconnect?: "cancel" | "continue";
          /** @default values */
          stream_mode?: ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools")[];
          /** @default false */
          stream_resumable?: boolean;
          /** @default false */
          stream_subgraphs?: boolean;
          strict_resume?: boolean;
          webhook?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Run"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunsController_get: {
    parameters: {
      path: {
        run_id: string;
        thread_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Run"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunsController_delete: {
    parameters: {
      path: {
        run_id: string;
        thread_id: string;
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunsController_cancel: {
    parameters: {
      query?: {
        action?: "interrupt" | "rollback";
        reason?: "taken";
        wait?: string | string[];
      };
      path: {
        run_id: string;
        thread_id: string;
      };
    };
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunsController_join: {
    parameters: {
      query?: {
        cancel_on_disconnect?: string | string[];
      };
      path: {
        run_id: string;
        thread_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RunResult"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunsController_joinStream: {
    parameters: {
      query?: {
        cancel_on_disconnect?: string | string[];
        checkpoint_id?: string;
        namespace?: string | string[];
        stream_mode?: string | string[];
      };
      path: {
        run_id: string;
        thread_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/event-stream": string;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  CronsController_createForThread: {
    parameters: {
      path: {
        thread_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          assistant_id: string;
          /** @enum {string} */
          catchup?: "latest" | "all" | "skip";
          checkpoint_during?: boolean;
          config?: {
            configurable?: {
              [key: string]: unknown;
            };
            max_concurrency?: number;
            metadata?: {
              [key: string]: unknown;
            };
            recursion_limit?: number;
            run_name?: string;
            tags?: string[];
          } & {
            [key: string]: unknown;
          };
          context?: {
            [key: string]: unknown;
          };
          /** @enum {string} */
          durability?: "sync" | "async" | "exit";
          enabled?: boolean;
          end_time?: string | null;
          feedback_keys?: string[];
          input?: unknown;
          interrupt_after?: "*" | string[];
          interrupt_before?: "*" | string[];
          metadata?: {
            [key: string]: unknown;
          };
          /** @enum {string} */
          multitask_strategy?: "reject" | "rollback" | "interrupt" | "enqueue";
          /** @enum {string} */
          on_run_completed?: "delete" | "keep";
          /** @enum {string} */
          overlap?: "allow" | "skip";
          schedule: string;
          stream_mode?: ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools")[];
          stream_resumable?: boolean;
          stream_subgraphs?: boolean;
          timezone?: string | null;
          webhook?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Cron"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunsController_stream: {
    parameters: {
      query?: {
        namespace?: string | string[];
      };
      path: {
        thread_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          /** @default 0 */
          after_seconds?: number;
          assistant_id: string;
          checkpoint?: {
            checkpoint_id?: string;
            checkpoint_map?: {
              [key: string]: unknown;
            };
            checkpoint_ns?: string;
            thread_id?: string;
          };
          checkpoint_during?: boolean;
          checkpoint_id?: string;
          command?: {
            goto?: (string | {
              args?: unknown;
              input?: unknown;
              node: string;
            } | (string | {
              args?: unknown;
              input?: unknown;
              node: string;
            })[]) | null;
            resume?: unknown;
            update?: ({
              [key: string]: unknown;
            } | (string | unknown)[][]) | null;
          };
          config?: {
            configurable?: {
              [key: string]: unknown;
            };
            max_concurrency?: number;
            metadata?: {
              [key: string]: unknown;
            };
            recursion_limit?: number;
            run_name?: string;
            tags?: string[];
          } & {
            [key: string]: unknown;
          };
          context?: {
            [key: string]: unknown;
          };
          /** @enum {string} */
          durability?: "sync" | "async" | "exit";
          feedback_keys?: string[];
          /**
           * @default reject
           * @enum {string}
           */
          if_not_exists?: "create" | "reject";
          input?: unknown;
          interrupt_after?: "*" | string[];
          interrupt_before?: "*" | string[];
          langsmith_tracer?: {
            example_id?: string;
            project_name?: string;
          };
          metadata?: {
            [key: string]: unknown;
          };
          /**
           * @default enqueue
           * @enum {string}
           */
          multitask_strategy?: "reject" | "rollback" | "interrupt" | "enqueue";
          /**
           * @default delete
           * @enum {string}
           */
          on_completion?: "delete" | "keep";
          /**
           * @default continue
           * @enum {string}
           */
          on_disconnect?: "cancel" | "continue";
          /** @default values */
          stream_mode?: ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools")[];
          /** @default false */
          stream_resumable?: boolean;
          /** @default false */
          stream_subgraphs?: boolean;
          strict_resume?: boolean;
          webhook?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/event-stream": string;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  RunsController_wait: {
    parameters: {
      path: {
        thread_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          /** @default 0 */
          after_seconds?: number;
          assistant_id: string;
          checkpoint?: {
            checkpoint_id?: string;
            checkpoint_map?: {
              [key: string]: unknown;
            };
            checkpoint_ns?: string;
            thread_id?: string;
          };
          checkpoint_during?: boolean;
          checkpoint_id?: string;
          command?: {
            goto?: (string | {
              args?: unknown;
              input?: unknown;
              node: string;
            } | (string | {
              args?: unknown;
              input?: unknown;
              node: string;
            })[]) | null;
            resume?: unknown;
            update?: ({
              [key: string]: unknown;
            } | (string | unknown)[][]) | null;
          };
          config?: {
            configurable?: {
              [key: string]: unknown;
            };
            max_concurrency?: number;
            metadata?: {
              [key: string]: unknown;
            };
            recursion_limit?: number;
            run_name?: string;
            tags?: string[];
          } & {
            [key: string]: unknown;
          };
          context?: {
            [key: string]: unknown;
          };
          /** @enum {string} */
          durability?: "sync" | "async" | "exit";
          feedback_keys?: string[];
          /**
           * @default reject
           * @enum {string}
           */
          if_not_exists?: "create" | "reject";
          input?: unknown;
          interrupt_after?: "*" | string[];
          interrupt_before?: "*" | string[];
          langsmith_tracer?: {
            example_id?: string;
            project_name?: string;
          };
          metadata?: {
            [key: string]: unknown;
          };
          /**
           * @default enqueue
           * @enum {string}
           */
          multitask_strategy?: "reject" | "rollback" | "interrupt" | "enqueue";
          /**
           * @default delete
           * @enum {string}
           */
          on_completion?: "delete" | "keep";
          /**
           * @default continue
           * @enum {string}
           */
          on_disconnect?: "cancel" | "continue";
          /** @default values */
          stream_mode?: ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools") | ("values" | "messages" | "messages-tuple" | "tasks" | "checkpoints" | "updates" | "events" | "debug" | "custom" | "tools")[];
          /** @default false */
          stream_resumable?: boolean;
          /** @default false */
          stream_subgraphs?: boolean;
          strict_resume?: boolean;
          webhook?: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RunResult"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ThreadsController_state: {
    parameters: {
      query?: {
        select?: string | string[];
        subgraphs?: string | string[];
      };
      path: {
        thread_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            checkpoint?: {
              [key: string]: unknown;
            } | null;
            checkpoint_id?: string | null;
            created_at?: string | null;
            interrupts?: unknown[];
            metadata?: {
              [key: string]: unknown;
            };
            next?: string[];
            parent_checkpoint?: {
              [key: string]: unknown;
            } | null;
            parent_checkpoint_id?: string | null;
            tasks?: {
              checkpoint: {
                [key: string]: unknown;
              } | null;
              error: string | null;
              id: string;
              interrupts: unknown[];
              name: string;
              path: unknown[];
              result: unknown;
              state: {
                [key: string]: unknown;
              } | null;
            }[];
            values?: unknown;
          };
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ThreadsController_updateState: {
    parameters: {
      path: {
        thread_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          as_node?: string;
          checkpoint?: {
            checkpoint_id?: string;
            checkpoint_map?: {
              [key: string]: unknown;
            };
            checkpoint_ns?: string;
            thread_id?: string;
          };
          checkpoint_id?: string;
          values?: {
            [key: string]: unknown;
          } | unknown[];
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UpdatedState"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ThreadsController_stateAtId: {
    parameters: {
      query?: {
        select?: string | string[];
        subgraphs?: string | string[];
      };
      path: {
        checkpoint_id: string;
        thread_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            checkpoint?: {
              [key: string]: unknown;
            } | null;
            checkpoint_id?: string | null;
            created_at?: string | null;
            interrupts?: unknown[];
            metadata?: {
              [key: string]: unknown;
            };
            next?: string[];
            parent_checkpoint?: {
              [key: string]: unknown;
            } | null;
            parent_checkpoint_id?: string | null;
            tasks?: {
              checkpoint: {
                [key: string]: unknown;
              } | null;
              error: string | null;
              id: string;
              interrupts: unknown[];
              name: string;
              path: unknown[];
              result: unknown;
              state: {
                [key: string]: unknown;
              } | null;
            }[];
            values?: unknown;
          };
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ThreadsController_stateAt: {
    parameters: {
      path: {
        thread_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          checkpoint: {
            checkpoint_id?: string;
            checkpoint_map?: {
              [key: string]: unknown;
            };
            checkpoint_ns?: string;
            thread_id?: string;
          };
          select?: string[];
          subgraphs?: boolean | string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            checkpoint?: {
              [key: string]: unknown;
            } | null;
            checkpoint_id?: string | null;
            created_at?: string | null;
            interrupts?: unknown[];
            metadata?: {
              [key: string]: unknown;
            };
            next?: string[];
            parent_checkpoint?: {
              [key: string]: unknown;
            } | null;
            parent_checkpoint_id?: string | null;
            tasks?: {
              checkpoint: {
                [key: string]: unknown;
              } | null;
              error: string | null;
              id: string;
              interrupts: unknown[];
              name: string;
              path: unknown[];
              result: unknown;
              state: {
                [key: string]: unknown;
              } | null;
            }[];
            values?: unknown;
          };
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ThreadsController_storage: {
    parameters: {
      path: {
        thread_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ThreadStorage"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ThreadStreamController_stream: {
    parameters: {
      query?: {
        stream_mode?: string | string[];
        stream_modes?: string | string[];
      };
      path: {
        thread_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/event-stream": string;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  EventProtocolController_open: {
    parameters: {
      path: {
        thread_id: string;
      };
    };
    responses: {
      101: {
        headers: {
          [name: string]: unknown;
        };
      };
      403: {
        headers: {
          [name: string]: unknown;
        };
      };
      426: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  EventProtocolController_stream: {
    parameters: {
      path: {
        thread_id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          channels: string[];
          depth?: number;
          namespaces?: string[][];
          since?: number;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/event-stream": string;
        };
      };
      400: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ThreadsController_count: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          metadata?: {
            [key: string]: unknown;
          };
          /** @enum {string} */
          status?: "idle" | "busy" | "interrupted" | "error";
          values?: {
            [key: string]: unknown;
          };
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": number;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ThreadsController_prune: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          /**
           * @default delete
           * @enum {string}
           */
          strategy?: "delete" | "keep_latest";
          thread_ids: string[];
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PrunedThreads"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  ThreadsController_search: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          extract?: {
            [key: string]: string;
          };
          ids?: string[];
          /** @default 10 */
          limit?: number;
          metadata?: {
            [key: string]: unknown;
          };
          /** @default 0 */
          offset?: number;
          select?: ("thread_id" | "created_at" | "updated_at" | "state_updated_at" | "metadata" | "config" | "status" | "values" | "interrupts" | "context")[];
          /**
           * @default updated_at
           * @enum {string}
           */
          sort_by?: "thread_id" | "status" | "created_at" | "updated_at" | "state_updated_at";
          /**
           * @default desc
           * @enum {string}
           */
          sort_order?: "asc" | "desc";
          /** @enum {string} */
          status?: "idle" | "busy" | "interrupted" | "error";
          values?: {
            [key: string]: unknown;
          };
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["FoundThread"][];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  UiController_load: {
    parameters: {
      path: {
        agent: string;
      };
    };
    requestBody: {
      content: {
        "application/json": {
          name: string;
        };
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/html": string;
        };
      };
      404: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  UiController_file: {
    parameters: {
      query?: {
        v?: string;
      };
      path: {
        agent: string;
        basename: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
      };
      404: {
        headers: {
          [name: string]: unknown;
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  WebhooksController_list: {
    parameters: {
      query?: {
        export_id?: string;
        host?: string;
        limit?: number;
        offset?: number;
        run_id?: string;
        status?: "pending" | "delivered" | "failed" | "cancelled";
        thread_id?: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["WebhookDelivery"][];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  WebhooksController_get: {
    parameters: {
      path: {
        delivery_id: string;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["WebhookDeliveryDetail"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  WebhooksController_redeliver: {
    parameters: {
      path: {
        delivery_id: string;
      };
    };
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["WebhookDelivery"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
  WebhooksController_test: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": {
          url: string;
        };
      };
    };
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["WebhookDelivery"];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            code: string;
            detail: string;
            errors?: {
              message?: string;
              path?: string;
              position?: number;
            }[];
          };
          "text/plain": string;
        };
      };
    };
  };
}
