import { SetMetadata } from '@nestjs/common';

/** What an operator who sells Gantry on can keep for the higher plans; a tenant has all of it until it is taken away. */
export const ENTITLEMENTS = ['crons', 'bulk_export'] as const;
export type Entitlement = (typeof ENTITLEMENTS)[number];

export const ENTITLEMENT = Symbol('entitlement');

/** The routes of a controller, or one of them, need this entitlement: without it they answer 403. */
export const NeedsEntitlement = (entitlement: Entitlement): MethodDecorator & ClassDecorator =>
  SetMetadata(ENTITLEMENT, entitlement);
