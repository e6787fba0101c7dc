import { maskSealed } from '../crypto/secret-values';
import { toApiTime } from '../http/api-time';
import type { AssistantEntity, AssistantVersionEntity } from './assistant.entity';
import type { Assistant, AssistantVersion } from './assistants.schemas';

export function toAssistant(row: AssistantEntity): Assistant {
  return { ...toAssistantVersion(row), updated_at: toApiTime(row.updatedAt) };
}

export function toAssistantVersion(row: AssistantEntity | AssistantVersionEntity): AssistantVersion {
  return {
    assistant_id: row.assistantId,
    graph_id: row.graphId,
    name: row.name,
    description: row.description,
    config: maskSealed(row.config),
    context: maskSealed(row.context),
    metadata: row.metadata,
    version: row.version,
    created_at: toApiTime(row.createdAt),
  };
}
