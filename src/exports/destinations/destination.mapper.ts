import { DestinationEntity } from './destination.entity';
import type { DestinationCheck } from './destination-check';
import type { Destination, DestinationPlace, DestinationTest } from './destinations.schemas';

/** Row → API, with only the names of the credentials. */
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

/** Checks → API, with what follows from them. */
export function toDestinationTest(destinationId: string, checks: DestinationCheck[]): DestinationTest {
  return {
    destination_id: destinationId,
    usable: checks.every(({ required, state }) => !required || state === 'passed'),
    complete: checks.every(({ state }) => state === 'passed'),
    checks,
  };
}

/** Row → where the destination is. */
export function placeOf({ destinationType, config }: DestinationEntity): DestinationPlace {
  return { type: destinationType, ...config } as DestinationPlace;
}
