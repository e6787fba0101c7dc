import { SetMetadata } from '@nestjs/common';

/** Features that an operator can reserve for higher plans; a tenant has all of them until they are switched off. */
export const ENTITLEMENTS = ['crons', 'bulk_export'] as const;
export type Entitlement = (typeof ENTITLEMENTS)[number];

export const ENTITLEMENT = Symbol('entitlement');

/** The routes of a controller, or one of them, need this entitlement: without it they answer 403. */
export const NeedsEntitlement = (entitlement: Entitlement): MethodDecorator & ClassDecorator =>
  SetMetadata(ENTITLEMENT, entitlement);
