import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/** Search attributes for operators in Temporal UI. Keywords: SQL visibility stores allow only three text attributes. */
export const tenantIdAttribute = defineSearchAttributeKey('GantryTenantId', SearchAttributeType.KEYWORD);
export const runIdAttribute = defineSearchAttributeKey('GantryRunId', SearchAttributeType.KEYWORD);
export const threadIdAttribute = defineSearchAttributeKey('GantryThreadId', SearchAttributeType.KEYWORD);
export const assistantIdAttribute = defineSearchAttributeKey('GantryAssistantId', SearchAttributeType.KEYWORD);
export const graphIdAttribute = defineSearchAttributeKey('GantryGraphId', SearchAttributeType.KEYWORD);
export const exportIdAttribute = defineSearchAttributeKey('GantryExportId', SearchAttributeType.KEYWORD);
export const cronIdAttribute = defineSearchAttributeKey('GantryCronId', SearchAttributeType.KEYWORD);
/** Temporal's own: the time for which a Schedule planned the start. */
export const scheduledStartAttribute = defineSearchAttributeKey(
  'TemporalScheduledStartTime',
  SearchAttributeType.DATETIME,
);

export const SEARCH_ATTRIBUTES = [
  tenantIdAttribute,
  runIdAttribute,
  threadIdAttribute,
  assistantIdAttribute,
  graphIdAttribute,
  exportIdAttribute,
  cronIdAttribute,
];
