import { DestinationEntity } from './destination.entity';
import type { Destination, DestinationPlace } from './destinations.schemas';

/** Row → API. Of the credentials only the names leave. */
export function toDestination(row: DestinationEntity): Destination {
  return {
    id: row.destinationId,
    tenant_id: row.tenantId,
    destination_type: row.destinationType,
    display_name: row.displayName,
    config: row.config,
    credentials_keys: row.credentialsKeys,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** Row → where the destination is. */
export function placeOf({ destinationType, config }: DestinationEntity): DestinationPlace {
  return { type: destinationType, ...config } as DestinationPlace;
}
